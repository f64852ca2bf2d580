import {execFileSync, spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {monitorFiles, timedTargets} from '../../src/lib/monitor/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {openTestServer, type TestServer} from '../support/head-server.ts'
import {ALERT_CASES, alertTests} from '../support/alert-cases.ts'
import {freePort} from '../support/sshd.ts'
import {startTarget, type Target} from '../support/target.ts'

/** A file of a run with every series there is, as a sampler writes it. */
const EXPOSITION = `
import sys
from pathlib import Path
from flexrack_node.measure.textfile import HELP, TextFile, lines
folder = Path(sys.argv[1])
sample = {"t": 0, "s": 5.0, "attempt": 1, "ranks": {"0": [50.0, 1000, 0, 0, 1]}, "gpus": {"0": [75.0, 4096, None, None]}}
spec = {"run": "digits-1", "index": 0, "node": "node-1", "project": "digits", "owner": 'ada "x"', "created": 7}
TextFile(folder, spec).write(sample, {"0": {"uuid": "GPU-a"}}, None)
(folder / "flexrack_run_all_0.prom").write_text("".join(lines([(name, {"run": "all"}, 1.0) for name in HELP])))
`

let folder: string
let head: TestServer
let target: Target
let token: string
let api: string
let ports: number[]
const processes: ChildProcess[] = []

const RACK: Rack = {
  name: 'lab',
  path: '/lab.yaml',
  nodes: [
    {name: 'node-1', host: '127.0.0.1', root: '~/.flexrack', labels: {'gpu/kind': 'a100'}},
    {name: 'spot-1', host: '127.0.0.1', root: '~/.flexrack', labels: {}, until: '2026-01-01T00:00:00Z'},
  ],
  head: {node: 'node-1'},
}
/** Ends by itself where this process is killed. */
const start = (program: string, args: string[]): ChildProcess => {
  const child = spawn('timeout', ['--foreground', '300', program, ...args], {stdio: 'ignore'})
  processes.push(child)
  return child
}
interface Answer<T> {
  status: string
  data: T
  error?: string
}
const ask = async <T>(path: string): Promise<Answer<T>> => (await (await fetch(`${api}${path}`)).json()) as Answer<T>
type Vector = {result: {metric: Record<string, string>; value: [number, string]}[]}
const query = (expr: string): Promise<Answer<Vector>> => ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds().catch(() => false))) await new Promise((wake) => setTimeout(wake, 200))
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-monitor-'))
  head = await openTestServer()
  target = await startTarget('model', (_request, response) => response.end('{}'))
  await head.activate('digits', [target.url])
  ports = [await freePort(), await freePort()]
  const targets = timedTargets(RACK).map((one) => ({...one, targets: [`127.0.0.1:${ports[0]}`]}))
  const made = await head.call('POST', '/flexrack/v1/tokens', {body: {kind: 'metrics', name: 'prometheus', targets}})
  token = ((await made.json()) as {token: string}).token
  await head.call('POST', '/endpoints/digits/v2/models/digits/infer', {body: {}})
  const files = monitorFiles(RACK, {target: new URL(head.url).host})
  const textfiles = join(folder, 'textfile')
  await mkdir(textfiles)
  execFileSync('python3', ['-c', EXPOSITION, textfiles], {env: {...process.env, PYTHONPATH: resolve('node')}})
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), {recursive: true})
    // The head of this test speaks no TLS, and has no minutes to wait.
    const plain = text
      .replace('scheme: https', 'scheme: http')
      .replace('url: https:', 'url: http:')
      .replaceAll(/\n +tls_config:\n +ca_file: head.pem/g, '')
      .replaceAll('15s', '1s')
    await writeFile(join(folder, path), plain)
  }
  await writeFile(join(folder, 'head.token'), token)
  start('prometheus-node-exporter', [
    `--web.listen-address=127.0.0.1:${ports[0]}`,
    '--collector.disable-defaults',
    '--collector.cpu',
    '--collector.filesystem',
    '--collector.meminfo',
    '--collector.netdev',
    '--collector.textfile',
    `--collector.textfile.directory=${textfiles}`,
  ])
  api = `http://127.0.0.1:${ports[1]}`
  start('prometheus', [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${ports[1]}`,
  ])
  await until(async () => (await query('up == 1')).data.result.length === 2)
}, 120_000)

afterAll(async () => {
  for (const child of processes) child.kill()
  await Promise.all(processes.map((child) => child.exitCode ?? once(child, 'exit')))
  await target?.stop()
  await head?.close()
  await rm(folder, {recursive: true, force: true})
})

test('Prometheus reads nodes and head, and every query of dashboards and alerts is understood and asks for what there is', async () => {
  const {DASHBOARDS} = await import('../../src/lib/monitor/dashboards.ts')
  const {ALERTS} = await import('../../src/lib/monitor/rules.ts')
  const {data} = await ask<{metric?: string}[]>('/api/v1/targets/metadata')
  const known = new Set(data.map((one) => one.metric))
  known.add('up')
  const queries = [
    ...DASHBOARDS.flatMap((board) => board.panels.flatMap((panel) => panel.queries.map(([, expr]) => expr))),
    ...ALERTS.map((alert) => alert.expr),
  ]
  for (const expr of queries) {
    const filled = expr.replaceAll(/\$(rack|run|endpoint)/g, '.*')
    expect(await query(filled), filled).toMatchObject({status: 'success'})
    for (const [name] of filled.matchAll(/\b(?:flexrack|node)_[a-z_A-Z]+/g))
      expect(known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, '')), `${name} in ${filled}`).toBe(true)
  }
  for (const [name, asked] of DASHBOARDS.flatMap((board) => board.variables)) {
    const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(asked) ?? []
    const found = await query(selector!.replaceAll(/\$\w+/g, '.*'))
    expect(found, asked).toMatchObject({status: 'success'})
    expect(found.data.result[0]?.metric, `${name}: ${asked}`).toHaveProperty(label!)
  }
  const up = await query('up{job="flexrack-nodes"}')
  expect(
    up.data.result.map(({metric}) => metric.node),
    'a node whose time is over is not there',
  ).toEqual(['node-1'])
  const nodes = await query('flexrack_run_info{run="digits-1"}')
  expect(nodes.data.result[0]?.metric).toMatchObject({
    rack: 'lab',
    node: 'node-1',
    label_gpu_kind: 'a100',
    user: 'ada "x"',
  })
  expect((await query('flexrack_gateway_requests_total{endpoint="digits"}')).data.result.length).toBeGreaterThan(0)
})

test('its own checker finds nothing in the settings, the rules and the numbers', async () => {
  const promtool = (args: string[], input = ''): string =>
    execFileSync('promtool', args, {input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe']})
  expect(promtool(['check', 'config', join(folder, 'prometheus.yml')])).toContain('SUCCESS')
  expect(promtool(['check', 'rules', join(folder, 'rules/flexrack.yml')])).toContain('SUCCESS')
  const numbers = await (await head.call('GET', '/flexrack/v1/metrics')).text()
  promtool(['check', 'metrics'], numbers)
})

test('each alert is raised by what it is for, and not by what looks like it', async () => {
  const {ALERTS} = await import('../../src/lib/monitor/rules.ts')
  expect(new Set(ALERT_CASES.map((one) => one.alert))).toEqual(new Set(ALERTS.map((one) => one.alert)))
  const file = join(folder, 'alerts.test.yml')
  await writeFile(file, JSON.stringify(alertTests(join(folder, 'rules/flexrack.yml'), ALERTS)))
  expect(execFileSync('promtool', ['test', 'rules', file], {encoding: 'utf8'})).toContain('SUCCESS')
})

test('the token opens the numbers and nothing else; another of its name, or its end, closes it', async () => {
  const read = (path: string, method = 'GET', with_ = token): Promise<Response> =>
    head.call(method, path, {token: with_, ...(method === 'POST' && {body: {}})})
  for (const path of ['/flexrack/v1/metrics', '/flexrack/v1/sd']) expect((await read(path)).status).toBe(200)
  for (const [path, method] of [
    ['/flexrack/v1/status'],
    ['/flexrack/v1/tokens'],
    ['/flexrack/v1/tokens', 'POST'],
    ['/flexrack/v1/monitors/prometheus', 'DELETE'],
    ['/endpoints/digits/v2/models/digits/infer', 'POST'],
    ['/api/2.0/mlflow/experiments/search', 'POST'],
  ] as const)
    expect((await read(path, method)).status, path).toBe(403)
  const again = await head.call('POST', '/flexrack/v1/tokens', {body: {kind: 'metrics', name: 'prometheus'}})
  const second = ((await again.json()) as {token: string}).token
  expect((await read('/flexrack/v1/metrics')).status).toBe(401)
  expect((await read('/flexrack/v1/metrics', 'GET', second)).status).toBe(200)
  expect((await head.call('DELETE', '/flexrack/v1/monitors/prometheus')).status).toBe(200)
  expect((await read('/flexrack/v1/metrics', 'GET', second)).status).toBe(401)
  await until(async () => (await query('up{job="flexrack-head"} == 0')).data.result.length === 1)
}, 60_000)
