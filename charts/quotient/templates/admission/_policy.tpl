{{/* The binding of a policy: it denies. Arguments: the root context and the policy's name. */}}
{{- define "quotient.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ index . 1 }}
  {{- include "quotient.metadata" (list (index . 0) dict) | nindent 2 }}
spec:
  policyName: {{ index . 1 }}
  validationActions: [Deny]
{{- end -}}

{{/* The same for a policy whose parameters are the Queues of the request's namespace. */}}
{{- define "quotient.queueBinding" -}}
{{ include "quotient.policyBinding" . }}
  paramRef:
    selector: {}
    parameterNotFoundAction: Allow
{{- end -}}

{{/* A list of texts as CEL has it. */}}
{{- define "quotient.celList" -}}
[{{ range $index, $text := . }}{{ if $index }}, {{ end }}'{{ $text | replace "\\" "\\\\" | replace "'" "\\'" }}'{{ end }}]
{{- end -}}

{{/* Namespaces that no Queue can manage. */}}
{{- define "quotient.protectedNamespaces" -}}
{{- include "quotient.celList" (append .Values.admission.protectedNamespaces .Release.Namespace | uniq) -}}
{{- end -}}

{{/* Whether the user decides over shares. In the whole cluster: a role of one namespace, such as one with every right in it, is
not enough. */}}
{{- define "quotient.mayShare" -}}
authorizer.group('quotient.dev').resource('queues').check('share').allowed()
{{- end -}}

{{/* Whether the request is by the garbage collector. With a single identity for all controllers its name is another one. */}}
{{- define "quotient.isGarbageCollector" -}}
request.userInfo.username in ['system:serviceaccount:kube-system:generic-garbage-collector', 'system:kube-controller-manager']
{{- end -}}

{{/* Only requests of the operator. */}}
{{- define "quotient.isOperator" -}}
matchConditions:
  - name: is-the-operator
    expression: {{ printf "request.userInfo.username == '%s'" (include "quotient.user" .) | quote }}
{{- end -}}
