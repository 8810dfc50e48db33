{{/*
The operator's command line, a list of flags: one for each value of config, by its name. What is empty is left out; what is a
map or a list is written as the flag wants it: a list of maps as JSON.
*/}}
{{- define "quotient.arguments" -}}
{{- range $key, $value := .Values.config }}
{{- $text := "" }}
{{- if kindIs "map" $value }}
{{- $parts := list }}
{{- range $name, $amount := $value }}{{- $parts = append $parts (printf "%s=%v" $name $amount) }}{{- end }}
{{- $text = join "," $parts }}
{{- else if and (kindIs "slice" $value) $value (kindIs "map" (first $value)) }}
{{- $text = toJson $value }}
{{- else if kindIs "slice" $value }}
{{- $text = join "," $value }}
{{- else if kindIs "float64" $value }}
{{- $text = int64 $value | toString }}
{{- else }}
{{- $text = toString $value }}
{{- end }}
{{- if ne $text "" }}
- {{ printf "--%s=%s" (kebabcase $key) $text | quote }}
{{- end }}
{{- end }}
- {{ printf "--listen=%s:%v" .Values.health.address .Values.health.port | quote }}
- {{ printf "--metrics-listen=%s:%v" (ternary .Values.health.address "127.0.0.1" (eq .Values.metrics.access "Authenticated")) .Values.metrics.port | quote }}
{{- if .Values.metrics.certificateSecret }}
- "--metrics-certificate=/etc/quotient/certificate"
{{- end }}
- {{ printf "--lease-namespace=%s" .Release.Namespace | quote }}
- {{ printf "--protected-namespaces=%s" (join "," .Values.admission.protectedNamespaces) | quote }}
{{- if include "quotient.gatesPods" . }}
- "--gate-mode=true"
{{- end }}
{{- range $flag, $value := .Values.extraArgs }}
- {{ printf "--%s=%v" $flag $value | quote }}
{{- end }}
{{- end -}}
