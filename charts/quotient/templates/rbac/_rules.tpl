{{- /*
The rules of files/rights.json that these values need, in the operator's own namespace or in the whole cluster:
include "quotient.rules" (list . OWN). `kubectl quotient check` reads the same file.
*/}}
{{- define "quotient.rules" }}
{{- $values := (index . 0).Values }}
{{- $own := index . 1 }}
{{- $modes := dict "Observe" 0 "Quota" 1 "Full" 2 }}
{{- $holds := dict "elected" $values.config.leaderElect "scraped" (eq $values.metrics.access "Authenticated") "gated" (ne (include "quotient.gatesPods" (index . 0)) "") }}
{{- range $use := list "createJobs" "scaleWorkloads" "patchPods" }}
{{- $_ := set $holds $use (get $values.rbac $use) }}
{{- end }}
{{- range (index . 0).Files.Get "files/rights.json" | fromJsonArray }}
{{- $reached := le (get $modes (.mode | default "Observe")) (get $modes $values.config.mode) }}
{{- if and $reached (eq $own (.own | default false)) (not (and (hasKey . "if") (not (get $holds (get . "if"))))) }}
  {{- with get . "for" }}
  # {{ . }}
  {{- end }}
  - apiGroups: {{ .groups | toJson }}
    resources: {{ .resources | toJson }}
    {{- with .names }}
    resourceNames: {{ toJson . | replace "{lease}" $values.config.leaseName }}
    {{- end }}
    verbs: {{ .verbs | toJson }}
{{- end }}
{{- end }}
{{- end }}
