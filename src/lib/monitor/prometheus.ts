import {stringify} from 'yaml'
import type {Rack} from '../rack/index.ts'

/** Where the head's numbers are. */
export interface MonitoredHead {
  /** Host and port, as Prometheus reaches it. */
  target: string
}

/** node_exporter's own port: https://github.com/prometheus/prometheus/wiki/Default-port-allocations */
const NODE_EXPORTER_PORT = 9100
/** Prometheus' targets of one kind, in the format of its file_sd. */
interface TargetGroup {
  targets: string[]
  labels: Record<string, string>
}

/**
 * prometheus.yml. Paths in it are relative to it, as Prometheus reads them. Without a head that runs its job is left out.
 * Pure.
 */
export function prometheusYaml(rack: Rack, head: MonitoredHead | undefined): string {
  return stringify({
    global: {scrape_interval: '15s', evaluation_interval: '15s'},
    rule_files: ['rules/flexrack.yml'],
    scrape_configs: [
      {job_name: 'flexrack-nodes', file_sd_configs: [{files: ['targets/nodes.json']}]},
      ...(head
        ? [
            {
              job_name: 'flexrack-head',
              scheme: 'https',
              metrics_path: '/flexrack/v1/metrics',
              authorization: {credentials_file: 'head.token'},
              tls_config: {ca_file: 'head.pem'},
              static_configs: [{targets: [head.target], labels: {rack: rack.name}}],
            },
          ]
        : []),
    ],
  })
}

/** targets/nodes.json: node_exporter of each node, at the address that other nodes have for it. Pure. */
export function nodeTargets(rack: Rack): TargetGroup[] {
  return rack.nodes.map(({name, address, host, labels}) => ({
    targets: [`${bracketed(address ?? host)}:${NODE_EXPORTER_PORT}`],
    labels: {
      rack: rack.name,
      node: name,
      // Of Prometheus' labels, names are narrower than ours.
      ...Object.fromEntries(
        Object.entries(labels).map(([key, value]) => [`label_${key.replaceAll(/[^A-Za-z0-9_]/g, '_')}`, value]),
      ),
    },
  }))
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
