/**
 * One metric of the gateway in the text format of Prometheus
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). `samples`: each from its labels on, `{a="b"} 1`.
 */
export function metric(name: string, kind: 'counter' | 'gauge' | 'histogram', help: string, samples: string[]): string {
  const full = `flexrack_gateway_${name}`
  const lines = [`# HELP ${full} ${help}`, `# TYPE ${full} ${kind}`, ...samples.map((sample) => `${full}${sample}`)]
  return `${lines.join('\n')}\n`
}
