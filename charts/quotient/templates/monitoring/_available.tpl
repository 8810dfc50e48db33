{{/* Whether the Prometheus Operator's kinds are there: without them an install would fail for the sake of its monitoring. */}}
{{- define "quotient.hasPrometheusOperator" -}}
{{- if .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" -}}true{{- end -}}
{{- end -}}
