import {stringify} from 'yaml'

interface Alert {
  alert: string
  expr: string
  for: string
  severity: 'warning' | 'critical'
  summary: string
}

/** What is worth waking somebody for, or telling them in the morning. Names of series: docs/monitoring.md, docs/metrics.md. */
export const ALERTS: readonly Alert[] = [
  {
    alert: 'FlexrackNodeSilent',
    expr: 'up{job="flexrack-nodes"} == 0',
    for: '5m',
    severity: 'critical',
    summary: 'Node {{ $labels.node }} of rack {{ $labels.rack }} does not answer.',
  },
  {
    alert: 'FlexrackHeadSilent',
    expr: 'up{job="flexrack-head"} == 0',
    for: '2m',
    severity: 'critical',
    summary: 'The head of rack {{ $labels.rack }} does not answer: endpoints may be down.',
  },
  {
    alert: 'FlexrackDiskAlmostFull',
    expr: 'node_filesystem_avail_bytes{job="flexrack-nodes",fstype!~"tmpfs|overlay|squashfs"} / node_filesystem_size_bytes < 0.1',
    for: '10m',
    severity: 'warning',
    summary: 'Less than 10 % of {{ $labels.mountpoint }} of {{ $labels.node }} is free.',
  },
  {
    alert: 'FlexrackRunWithoutStep',
    // a rank that hangs before its first step has no newest one
    expr: 'time() - flexrack_run_last_step_timestamp_seconds > 1800 or (max_over_time(flexrack_run_step[30m]) == 0 and time() - flexrack_run_started_timestamp_seconds > 1800)',
    for: '5m',
    severity: 'warning',
    summary: 'Run {{ $labels.run }} has made no step on {{ $labels.node }} for half an hour.',
  },
  {
    alert: 'FlexrackRunGpusIdle',
    expr: 'avg by (rack, node, run) (avg_over_time(flexrack_run_gpu_busy_ratio[30m])) < 0.05 and on (rack, node, run) (time() - flexrack_run_started_timestamp_seconds > 1800)',
    for: '5m',
    severity: 'warning',
    summary: 'Run {{ $labels.run }} holds GPUs of {{ $labels.node }} and hardly computes.',
  },
  {
    alert: 'FlexrackTextfileBroken',
    expr: 'node_textfile_scrape_error{job="flexrack-nodes"} > 0',
    for: '15m',
    severity: 'warning',
    summary: 'node_exporter of {{ $labels.node }} cannot read a file of its textfile folder.',
  },
  {
    alert: 'FlexrackEndpointErrors',
    expr: 'sum by (rack, endpoint) (rate(flexrack_gateway_requests_total{code=~"5.."}[5m])) / sum by (rack, endpoint) (rate(flexrack_gateway_requests_total[5m])) > 0.05',
    for: '5m',
    severity: 'critical',
    summary: 'More than 5 % of the answers of endpoint {{ $labels.endpoint }} are errors.',
  },
  {
    alert: 'FlexrackEndpointQueueGrows',
    expr: 'flexrack_gateway_queue_depth > 0 and delta(flexrack_gateway_queue_depth[5m]) > 0',
    for: '10m',
    severity: 'warning',
    summary: 'Requests of endpoint {{ $labels.endpoint }} wait for servers, more and more of them.',
  },
  {
    // a full queue does not grow any more, and its 429 is no error of a server
    alert: 'FlexrackEndpointRefuses',
    expr: 'sum by (rack, endpoint) (rate(flexrack_gateway_queue_refused_total[5m])) / sum by (rack, endpoint) (rate(flexrack_gateway_requests_total[5m])) > 0.05',
    for: '5m',
    severity: 'critical',
    summary:
      'More than 5 % of the requests of endpoint {{ $labels.endpoint }} are not sent: its queue is full, or they wait too long.',
  },
  {
    alert: 'FlexrackEndpointServersMissing',
    expr: 'flexrack_gateway_servers_wanted > on (rack, endpoint, release) flexrack_gateway_servers{state="ready"}',
    for: '10m',
    severity: 'warning',
    summary: 'Endpoint {{ $labels.endpoint }} has fewer model servers than it is to have.',
  },
]

/** rules/flexrack.yml. Pure. */
export function rulesYaml(): string {
  return stringify({
    groups: [
      {
        name: 'flexrack',
        rules: ALERTS.map(({severity, summary, ...rule}) => ({...rule, labels: {severity}, annotations: {summary}})),
      },
    ],
  })
}
