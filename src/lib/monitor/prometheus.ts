import {stringify} from 'yaml'
import type {Rack, RackNode} from '../rack/index.ts'

/** Where the head's numbers are. */
export interface MonitoredHead {
  /** Host and port, as Prometheus reaches it. */
  target: string
}

/** node_exporter's own port: https://github.com/prometheus/prometheus/wiki/Default-port-allocations */
const NODE_EXPORTER_PORT = 9100
/** Prometheus' targets of one kind, in the format of its file_sd. */
export interface TargetGroup {
  targets: string[]
  labels: Record<string, string>
}

/** How Prometheus reaches the head, by files beside prometheus.yml. Each time anew: YAML would refer to one that is shared. */
const headAccess = (): object => ({
  // Prometheus 2.42 has no default for the type in http_sd.
  authorization: {type: 'Bearer', credentials_file: 'head.token'},
  tls_config: {ca_file: 'head.pem'},
})

/**
 * prometheus.yml. Paths in it are relative to it, as Prometheus reads them. With a head that runs the nodes
 * come from it, without those whose time is over; without one from a file. Pure.
 */
export function prometheusYaml(rack: Rack, head: MonitoredHead | undefined): string {
  return stringify({
    global: {scrape_interval: '15s', evaluation_interval: '15s'},
    rule_files: ['rules/flexrack.yml'],
    scrape_configs: [
      {
        job_name: 'flexrack-nodes',
        ...(head
          ? {http_sd_configs: [{url: `https://${head.target}/flexrack/v1/sd`, ...headAccess()}]}
          : {file_sd_configs: [{files: ['targets/nodes.json']}]}),
      },
      ...(head
        ? [
            {
              job_name: 'flexrack-head',
              scheme: 'https',
              metrics_path: '/flexrack/v1/metrics',
              ...headAccess(),
              static_configs: [{targets: [head.target], labels: {rack: rack.name}}],
            },
          ]
        : []),
    ],
  })
}

/** The same as the head is told: it leaves out nodes whose time is over. Pure. */
export function timedTargets(rack: Rack): (TargetGroup & {until?: number})[] {
  return rack.nodes.map((node) => ({
    ...targetOf(rack, node),
    ...(node.until !== undefined && {until: Date.parse(node.until)}),
  }))
}

/** targets/nodes.json: node_exporter of each node, at the address that other nodes have for it. Pure. */
export function nodeTargets(rack: Rack): TargetGroup[] {
  return rack.nodes.map((node) => targetOf(rack, node))
}

function targetOf(rack: Rack, {name, address, host, labels}: RackNode): TargetGroup {
  return {
    targets: [`${bracketed(address ?? host)}:${NODE_EXPORTER_PORT}`],
    labels: {
      rack: rack.name,
      node: name,
      // Of Prometheus' labels, names are narrower than ours.
      ...Object.fromEntries(
        Object.entries(labels).map(([key, value]) => [`label_${key.replaceAll(/[^A-Za-z0-9_]/g, '_')}`, value]),
      ),
    },
  }
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
