/** Made-up series for `promtool test rules`: of each alert something that raises it, and beside it what must not. */
interface AlertCase {
  alert: string
  /** Series and their values, one a minute from 0 on: `VALUExTIMES`, `FROM+STEPxTIMES`. */
  series: Record<string, string>
  /** Minutes: nothing yet, and then exactly one. */
  calm: number
  raised: number
  /** Labels of the one alert, without its severity. */
  labels: Record<string, string>
}

const NODE = {job: 'flexrack-nodes', node: 'node-1', rack: 'lab'}
const RUN = {instance: 'node-1:9100', node: 'node-1', rack: 'lab'}

function series(name: string, labels: Record<string, string>): string {
  return `${name}{${Object.entries(labels)
    .map(([key, value]) => `${key}="${value}"`)
    .join(',')}}`
}

function disk(name: string, mountpoint: string, fstype: string): string {
  return series(`node_filesystem_${name}_bytes`, {...NODE, mountpoint, fstype})
}

function run(name: string, of: string, more: Record<string, string> = {}): string {
  return series(`flexrack_run_${name}`, {...RUN, run: of, ...more})
}

function requests(endpoint: string, code: string): string {
  return series('flexrack_gateway_requests_total', {rack: 'lab', endpoint, code})
}

function refused(endpoint: string, reason: string): string {
  return series('flexrack_gateway_queue_refused_total', {rack: 'lab', endpoint, reason})
}

function servers(name: string, endpoint: string, state?: string): string {
  const labels = {instance: 'head', rack: 'lab', endpoint, release: 'r1', ...(state !== undefined && {state})}
  return series(`flexrack_gateway_${name}`, labels)
}

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'FlexrackNodeSilent',
    series: {[series('up', NODE)]: '1x5 0x20', [series('up', {...NODE, node: 'node-2'})]: '1x5 0x2 1x20'},
    calm: 9,
    raised: 15,
    labels: NODE,
  },
  {
    alert: 'FlexrackHeadSilent',
    series: {[series('up', {job: 'flexrack-head', rack: 'lab'})]: '1x5 0x20'},
    calm: 6,
    raised: 10,
    labels: {job: 'flexrack-head', rack: 'lab'},
  },
  {
    alert: 'FlexrackDiskAlmostFull',
    series: {
      [disk('avail', '/', 'ext4')]: '20x5 9x30',
      [disk('size', '/', 'ext4')]: '100x40',
      [disk('avail', '/run', 'tmpfs')]: '1x40',
      [disk('size', '/run', 'tmpfs')]: '100x40',
    },
    calm: 14,
    raised: 20,
    labels: {...NODE, mountpoint: '/', fstype: 'ext4'},
  },
  {
    alert: 'FlexrackRunWithoutStep',
    series: {
      [run('last_step_timestamp_seconds', 'goes')]: '0+60x90',
      [run('last_step_timestamp_seconds', 'stuck')]: '0+60x10 600x80',
      [run('step', 'stuck')]: '0+1x10 10x80',
      [run('started_timestamp_seconds', 'stuck')]: '0x90',
      [run('started_timestamp_seconds', 'untold')]: '0x90',
    },
    calm: 40,
    raised: 50,
    labels: {...RUN, run: 'stuck'},
  },
  {
    // no rank has made a step; of one that was started anew the steps are 0 for a moment
    alert: 'FlexrackRunWithoutStep',
    series: {
      [run('step', 'hangs')]: '0x90',
      [run('started_timestamp_seconds', 'hangs')]: '0x90',
      [run('step', 'anew')]: '5x40 0x20 1x30',
      [run('started_timestamp_seconds', 'anew')]: '0x90',
    },
    calm: 33,
    raised: 60,
    labels: {...RUN, run: 'hangs'},
  },
  {
    alert: 'FlexrackRunGpusIdle',
    series: {
      [run('gpu_busy_ratio', 'idle', {gpu: '0'})]: '0.01x90',
      [run('gpu_busy_ratio', 'idle', {gpu: '1'})]: '0.02x90',
      [run('gpu_busy_ratio', 'busy', {gpu: '2'})]: '0.9x90',
      [run('started_timestamp_seconds', 'idle')]: '0x90',
      [run('started_timestamp_seconds', 'busy')]: '0x90',
    },
    calm: 33,
    raised: 40,
    labels: {node: 'node-1', rack: 'lab', run: 'idle'},
  },
  {
    alert: 'FlexrackTextfileBroken',
    series: {[series('node_textfile_scrape_error', NODE)]: '0x5 1x30'},
    calm: 15,
    raised: 25,
    labels: NODE,
  },
  {
    alert: 'FlexrackEndpointErrors',
    series: {
      [requests('bad', '200')]: '0+90x30',
      [requests('bad', '503')]: '0+10x30',
      [requests('good', '200')]: '0+90x30',
      [requests('good', '503')]: '0+1x30',
    },
    calm: 4,
    raised: 15,
    labels: {rack: 'lab', endpoint: 'bad'},
  },
  {
    alert: 'FlexrackEndpointQueueGrows',
    series: {
      [series('flexrack_gateway_queue_depth', {rack: 'lab', endpoint: 'slow'})]: '0+3x40',
      [series('flexrack_gateway_queue_depth', {rack: 'lab', endpoint: 'even'})]: '4x40',
    },
    calm: 8,
    raised: 20,
    labels: {rack: 'lab', endpoint: 'slow'},
  },
  {
    alert: 'FlexrackEndpointRefuses',
    series: {
      [requests('full', '429')]: '0+90x30',
      [requests('full', '200')]: '0+30x30',
      [refused('full', 'full')]: '0+90x30',
      [refused('full', 'age')]: '0x30',
      // Over the limit of a client's key, which is the client's matter.
      [requests('keys', '429')]: '0+90x30',
      [refused('keys', 'full')]: '0x30',
    },
    calm: 4,
    raised: 15,
    labels: {rack: 'lab', endpoint: 'full'},
  },
  {
    alert: 'FlexrackEndpointServersMissing',
    series: {
      [servers('servers_wanted', 'short')]: '2x40',
      [servers('servers', 'short', 'ready')]: '2x5 1x35',
      [servers('servers', 'short', 'lost')]: '0x5 1x35',
      [servers('servers_wanted', 'asleep')]: '0x40',
      [servers('servers', 'asleep', 'ready')]: '0x40',
      [servers('servers_wanted', 'shrinks')]: '1x40',
      [servers('servers', 'shrinks', 'ready')]: '2x40',
    },
    calm: 14,
    raised: 20,
    labels: {rack: 'lab', endpoint: 'short', release: 'r1'},
  },
]

/** A file for `promtool test rules`. `told`: what each alert says, `{{ $labels.x }}` filled in by its labels. */
export function alertTests(
  rules: string,
  alerts: readonly {alert: string; severity: string; summary: string}[],
): object {
  return {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: ALERT_CASES.map(({alert, series: given, calm, raised, labels}) => {
      const {severity, summary} = alerts.find((one) => one.alert === alert)!
      const told = summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '')
      return {
        interval: '1m',
        input_series: Object.entries(given).map(([name, values]) => ({series: name, values})),
        alert_rule_test: [
          {eval_time: `${calm}m`, alertname: alert, exp_alerts: []},
          {
            eval_time: `${raised}m`,
            alertname: alert,
            exp_alerts: [{exp_labels: {...labels, severity}, exp_annotations: {summary: told}}],
          },
        ],
      }
    }),
  }
}
