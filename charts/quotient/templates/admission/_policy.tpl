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

{{/* A list of texts as CEL has it. */}}
{{- define "quotient.celList" -}}
[{{ range $index, $text := . }}{{ if $index }}, {{ end }}'{{ $text | replace "\\" "\\\\" | replace "'" "\\'" }}'{{ end }}]
{{- end -}}

{{/* Namespaces in which nothing is governed. */}}
{{- define "quotient.protectedNamespaces" -}}
{{- include "quotient.celList" (append .Values.admission.protectedNamespaces .Release.Namespace | uniq) -}}
{{- end -}}

{{/* Only requests of the operator. */}}
{{- define "quotient.isOperator" -}}
matchConditions:
  - name: is-the-operator
    expression: {{ printf "request.userInfo.username == '%s'" (include "quotient.user" .) | quote }}
{{- end -}}
