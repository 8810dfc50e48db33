{{/* The name of the operator's own objects, of at most 52 characters, so that a suffix still fits into 63. */}}
{{- define "quotient.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "quotient.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "quotient.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The operator as the API server knows it. */}}
{{- define "quotient.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "quotient.serviceAccountName" . }}
{{- end -}}

{{/* What a pod must have to be one of ours; never changes, because selectors cannot. */}}
{{- define "quotient.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "quotient.labels" -}}
{{ include "quotient.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: quotient
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata that every object has beside its name. Arguments: the root context; annotations and labels of the object's own. */}}
{{- define "quotient.metadata" -}}
{{- $root := index . 0 -}}
{{- $annotations := merge (dict) (index . 1) $root.Values.commonAnnotations -}}
labels:
  {{- include "quotient.labels" $root | nindent 2 }}
  {{- range rest (rest .) }}
  {{- with . }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "quotient.image" -}}
{{- $image := .Values.image -}}
{{- $name := $image.repository -}}
{{- if $image.registry -}}{{- $name = printf "%s/%s" (trimSuffix "/" $image.registry) $name -}}{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/*
The resources of config.workloadKinds by API group, as JSON: each once, however many entries name it.
*/}}
{{- define "quotient.workloadResources" -}}
{{- $groups := dict }}
{{- range .Values.config.workloadKinds }}
{{- $_ := set $groups .group (append (get $groups .group | default list) .plural | uniq | sortAlpha) }}
{{- end }}
{{- toJson $groups }}
{{- end -}}
