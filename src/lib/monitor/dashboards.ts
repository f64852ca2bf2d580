/** A picture of a dashboard. */
interface Panel {
  title: string
  /** By legend. */
  queries: [legend: string, expr: string][]
  unit: 'short' | 'percentunit' | 'bytes' | 'Bps' | 's' | 'reqps'
  kind?: 'timeseries' | 'table'
}

interface Dashboard {
  /** File and fixed uid, so that it is replaced and not doubled. */
  uid: string
  title: string
  variables: [name: string, query: string][]
  panels: Panel[]
}

const RACK: [string, string] = ['rack', 'label_values(up{job="flexrack-nodes"}, rack)']

export const DASHBOARDS: readonly Dashboard[] = [
  {
    uid: 'flexrack-rack',
    title: 'Flexrack: rack',
    variables: [RACK],
    panels: [
      {
        title: 'Nodes that answer',
        unit: 'short',
        queries: [
          ['answer', 'sum(up{job="flexrack-nodes",rack=~"$rack"})'],
          ['of', 'count(up{job="flexrack-nodes",rack=~"$rack"})'],
        ],
      },
      {
        title: 'Runs that go on',
        unit: 'short',
        queries: [['{{project}}', 'count by (project) (count by (project, run) (flexrack_run_info{rack=~"$rack"}))']],
      },
      {
        title: 'Processors',
        unit: 'percentunit',
        queries: [['{{node}}', '1 - avg by (node) (rate(node_cpu_seconds_total{mode="idle",rack=~"$rack"}[2m]))']],
      },
      {
        title: 'Memory',
        unit: 'percentunit',
        queries: [['{{node}}', '1 - node_memory_MemAvailable_bytes{rack=~"$rack"} / node_memory_MemTotal_bytes']],
      },
      {
        title: 'GPUs of runs',
        unit: 'percentunit',
        queries: [['{{node}} {{gpu}}', 'max by (node, gpu) (flexrack_run_gpu_busy_ratio{rack=~"$rack"})']],
      },
      {
        title: 'Memory of GPUs of runs',
        unit: 'bytes',
        queries: [['{{node}} {{gpu}}', 'max by (node, gpu) (flexrack_run_gpu_memory_used_bytes{rack=~"$rack"})']],
      },
      {
        title: 'Network',
        unit: 'Bps',
        queries: [
          ['{{node}} in', 'sum by (node) (rate(node_network_receive_bytes_total{device!="lo",rack=~"$rack"}[2m]))'],
          ['{{node}} out', '-sum by (node) (rate(node_network_transmit_bytes_total{device!="lo",rack=~"$rack"}[2m]))'],
        ],
      },
      {title: 'Who runs what', unit: 'short', kind: 'table', queries: [['', 'flexrack_run_info{rack=~"$rack"}']]},
    ],
  },
  {
    uid: 'flexrack-run',
    title: 'Flexrack: run',
    variables: [RACK, ['run', 'label_values(flexrack_run_info{rack=~"$rack"}, run)']],
    panels: [
      {title: 'Steps', unit: 'short', queries: [['{{node}}', 'flexrack_run_step{rack=~"$rack",run=~"$run"}']]},
      {
        title: 'Samples a second',
        unit: 'short',
        queries: [['all', 'sum(rate(flexrack_run_samples_total{rack=~"$rack",run=~"$run"}[2m]))']],
      },
      {
        title: 'Waiting for data',
        unit: 'percentunit',
        queries: [
          [
            '{{node}}',
            'rate(flexrack_run_data_wait_seconds_total{rack=~"$rack",run=~"$run"}[2m]) / on (instance, run) group_left flexrack_run_ranks{rack=~"$rack",run=~"$run"}',
          ],
        ],
      },
      {
        title: 'GPUs',
        unit: 'percentunit',
        queries: [['{{node}} {{gpu}}', 'flexrack_run_gpu_busy_ratio{rack=~"$rack",run=~"$run"}']],
      },
      {
        title: 'Processors busy',
        unit: 'short',
        queries: [['{{node}}', 'flexrack_run_cpu_ratio{rack=~"$rack",run=~"$run"}']],
      },
      {
        title: 'Memory of ranks',
        unit: 'bytes',
        queries: [['{{node}}', 'flexrack_run_memory_bytes{rack=~"$rack",run=~"$run"}']],
      },
      {
        title: 'Since the last step',
        unit: 's',
        queries: [['{{node}}', 'time() - flexrack_run_last_step_timestamp_seconds{rack=~"$rack",run=~"$run"}']],
      },
      {title: 'Attempt', unit: 'short', queries: [['{{node}}', 'flexrack_run_attempt{rack=~"$rack",run=~"$run"}']]},
    ],
  },
  {
    uid: 'flexrack-endpoint',
    title: 'Flexrack: endpoint',
    variables: [
      ['rack', 'label_values(up{job="flexrack-head"}, rack)'],
      ['endpoint', 'label_values(flexrack_gateway_queue_depth{rack=~"$rack"}, endpoint)'],
    ],
    panels: [
      {
        title: 'Requests by release',
        unit: 'reqps',
        queries: [
          [
            '{{release}} {{outcome}}',
            'sum by (release, outcome) (rate(flexrack_gateway_release_requests_total{rack=~"$rack",endpoint=~"$endpoint"}[2m]))',
          ],
        ],
      },
      {
        title: 'Answers by status',
        unit: 'reqps',
        queries: [
          [
            '{{code}}',
            'sum by (code) (rate(flexrack_gateway_requests_total{rack=~"$rack",endpoint=~"$endpoint"}[2m]))',
          ],
        ],
      },
      {
        title: 'Latency',
        unit: 's',
        queries: ['0.5', '0.9', '0.99'].map((share): [string, string] => [
          `{{release}} ${share}`,
          `histogram_quantile(${share}, sum by (release, le) (rate(flexrack_gateway_release_seconds_bucket{rack=~"$rack",endpoint=~"$endpoint"}[5m])))`,
        ]),
      },
      {
        title: 'In flight',
        unit: 'short',
        queries: [['{{release}}', 'flexrack_gateway_release_in_flight{rack=~"$rack",endpoint=~"$endpoint"}']],
      },
      {
        title: 'Waiting for a server',
        unit: 'short',
        queries: [['{{endpoint}}', 'flexrack_gateway_queue_depth{rack=~"$rack",endpoint=~"$endpoint"}']],
      },
      {
        title: 'Time in the queue, 99 %',
        unit: 's',
        queries: [
          [
            '{{endpoint}}',
            'histogram_quantile(0.99, sum by (endpoint, le) (rate(flexrack_gateway_queue_seconds_bucket{rack=~"$rack",endpoint=~"$endpoint"}[5m])))',
          ],
        ],
      },
      {
        title: 'Not sent',
        unit: 'reqps',
        queries: [
          [
            '{{reason}}',
            'sum by (reason) (rate(flexrack_gateway_queue_refused_total{rack=~"$rack",endpoint=~"$endpoint"}[2m]))',
          ],
        ],
      },
      {
        title: 'Model servers',
        unit: 'short',
        queries: [
          ['wanted', 'sum(flexrack_gateway_servers_wanted{rack=~"$rack",endpoint=~"$endpoint"})'],
          [
            '{{state}}',
            'sum by (state) (flexrack_gateway_servers{rack=~"$rack",endpoint=~"$endpoint",state!~"off|draining"})',
          ],
        ],
      },
      {
        title: 'Tokens a second',
        unit: 'short',
        queries: [
          [
            '{{release}} {{part}}',
            'sum by (release, part) (rate(flexrack_gateway_release_tokens_total{rack=~"$rack",endpoint=~"$endpoint"}[2m]))',
          ],
        ],
      },
      {
        title: 'Requests by client',
        unit: 'reqps',
        queries: [
          [
            '{{client}}',
            'sum by (client) (rate(flexrack_gateway_requests_total{rack=~"$rack",endpoint=~"$endpoint"}[2m]))',
          ],
        ],
      },
    ],
  },
]

/**
 * A dashboard as Grafana provisions it. The data source is a variable: `__inputs` and `${DS_...}` are read by its import
 * page alone (grafana/grafana#10786). Pure.
 */
export function dashboardJson({uid, title, variables, panels}: Dashboard): object {
  const datasource = {type: 'prometheus', uid: '${datasource}'}
  return {
    uid,
    title,
    tags: ['flexrack'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: {from: 'now-3h', to: 'now'},
    templating: {
      list: [
        {name: 'datasource', type: 'datasource', query: 'prometheus', label: 'data source'},
        ...variables.map(([name, query]) => ({
          name,
          type: 'query',
          datasource,
          query: {query, refId: name},
          refresh: 2,
          includeAll: true,
          multi: true,
          current: {text: 'All', value: '$__all'},
        })),
      ],
    },
    panels: panels.map(({title: heading, queries, unit, kind = 'timeseries'}, index) => ({
      id: index + 1,
      type: kind,
      title: heading,
      datasource,
      gridPos: {x: (index % 2) * 12, y: Math.floor(index / 2) * 8, w: 12, h: 8},
      fieldConfig: {defaults: {unit}, overrides: []},
      options: kind === 'table' ? {} : {legend: {displayMode: 'list', placement: 'bottom'}, tooltip: {mode: 'multi'}},
      targets: queries.map(([legend, expr], at) => ({
        refId: String.fromCodePoint(65 + at),
        datasource,
        expr,
        ...(kind === 'table' ? {instant: true, format: 'table'} : {legendFormat: legend}),
      })),
    })),
  }
}
