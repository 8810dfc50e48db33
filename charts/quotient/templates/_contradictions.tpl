{{/* What the schema cannot say: values that contradict each other, and an image that is nowhere, are refused with a sentence. */}}
{{- define "quotient.contradictions" -}}
{{- $config := .Values.config -}}
{{- /* Also beside a digest: it names an image, not the registry that has it. */ -}}
{{- if not .Values.image.registry -}}
{{- $name := printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- fail (printf "image.registry is empty, and no registry publishes the image yet. Build the Dockerfile as REGISTRY/%s, push it, and set image.registry=REGISTRY. For an image that you load into kind or minikube as localhost/%s, set image.registry=localhost." $name $name) -}}
{{- end -}}
{{- if and (gt (int .Values.replicaCount) 1) (not $config.leaderElect) -}}
{{- fail (printf "replicaCount is %v and config.leaderElect is false: each replica would lead, and they would grant the same capacity twice. Run one replica, or leave leaderElect on." .Values.replicaCount) -}}
{{- end -}}
{{- if and .Values.podDisruptionBudget.enabled (lt (int .Values.replicaCount) 2) -}}
{{- fail (printf "podDisruptionBudget.enabled is true and replicaCount is %v: a budget for one replica protects nothing or blocks every drain. Run two replicas, or leave the budget out." .Values.replicaCount) -}}
{{- end -}}
{{- if and (kindIs "map" $config.capacity) $config.expandable -}}
{{- fail "config.capacity states a ceiling and config.expandable a step: both say what an autoscaler adds. State one of them." -}}
{{- end -}}
{{- if or (ge (int $config.leaseRetrySeconds) (int $config.leaseRenewDeadlineSeconds)) (ge (int $config.leaseRenewDeadlineSeconds) (int $config.leaseDurationSeconds)) -}}
{{- fail (printf "config.leaseRetrySeconds (%v) must be less than config.leaseRenewDeadlineSeconds (%v), and that less than config.leaseDurationSeconds (%v): otherwise a leader that cannot renew leads on while another begins." $config.leaseRetrySeconds $config.leaseRenewDeadlineSeconds $config.leaseDurationSeconds) -}}
{{- end -}}
{{- if and .Values.rbac.scaleWorkloads (not .Values.rbac.patchPods) -}}
{{- fail "rbac.scaleWorkloads is true and rbac.patchPods is false: a ReplicaSet would delete other pods than those that Quotient chose. Set both." -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- fail "serviceAccount.create is false and serviceAccount.name is empty: the operator would run as the namespace's default account. Name the account that it is to run as." -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (ne .Values.metrics.access "Authenticated") -}}
{{- fail "serviceMonitor.enabled is true and metrics.access is Localhost: Prometheus could not reach the metrics. Set metrics.access to Authenticated, or scrape by a sidecar." -}}
{{- end -}}
{{- if and .Values.metrics.certificateSecret (ne .Values.metrics.access "Authenticated") -}}
{{- fail "metrics.certificateSecret is set and metrics.access is Localhost: in the pod metrics are served over plain HTTP. Leave the Secret out, or set metrics.access to Authenticated." -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (eq .Values.serviceMonitor.kind "ServiceMonitor") (not .Values.metrics.service.enabled) -}}
{{- fail "serviceMonitor.enabled is true and metrics.service.enabled is false: a ServiceMonitor finds pods through a Service. Enable the Service, or set serviceMonitor.kind=PodMonitor." -}}
{{- end -}}
{{- if and .Values.hostNetwork (not .Values.hostUsers) -}}
{{- fail "hostNetwork is true and hostUsers is false: Kubernetes gives a pod users of its own only together with a network of its own. Set one of them back." -}}
{{- end -}}
{{- if eq (int .Values.health.port) (int .Values.metrics.port) -}}
{{- fail (printf "health.port and metrics.port are both %v: the operator cannot listen twice on one port. Change one of them." .Values.health.port) -}}
{{- end -}}
{{- /* What quotient.arguments writes. */ -}}
{{- $written := dict "gate-mode" "gateMode.enabled" "lease-namespace" "the namespace of the release" "listen" "health.port" "metrics-listen" "metrics.port" "protected-namespaces" "admission.protectedNamespaces" -}}
{{- if .Values.metrics.certificateSecret }}{{- $_ := set $written "metrics-certificate" "metrics.certificateSecret" -}}{{- end -}}
{{- range $key, $known := $config }}{{- $_ := set $written (kebabcase $key) (printf "config.%s" $key) -}}{{- end -}}
{{- range $flag, $value := .Values.extraArgs -}}
{{- with get $written $flag -}}
{{- fail (printf "extraArgs.%s is %s: the operator takes a flag once. Set %s." $flag . .) -}}
{{- end -}}
{{- end -}}
{{- $alerts := list -}}
{{- range (fromYaml (.Files.Get "files/rules/alerts.yaml")).groups -}}
{{- range .rules }}{{- $alerts = append $alerts .alert -}}{{- end -}}
{{- end -}}
{{- range concat .Values.prometheusRule.excludeAlerts (keys .Values.prometheusRule.alerts | sortAlpha) -}}
{{- if not (has . $alerts) -}}
{{- fail (printf "prometheusRule names the alert %s, which there is none of. There are: %s." . (join ", " $alerts)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
