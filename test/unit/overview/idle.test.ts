import {stripVTControlCharacters} from 'node:util'
import {expect, test} from 'vitest'
import {idleText} from '../../../src/cli/usage/idle-text.ts'
import type {GpuDevice, Lease} from '../../../src/lib/gpu/index.ts'
import {idleGpus, type NodeSummary, type Overview} from '../../../src/lib/overview/index.ts'
import {usageReport, type UsageEntry} from '../../../src/lib/usage/index.ts'

const HOUR = 3600

const node = (name: string, gpus: number): NodeSummary => ({
  node: name,
  host: name,
  ok: true,
  gone: false,
  cores: 8,
  load: 0,
  ticks: null,
  memory: null,
  disk: null,
  gpus,
})
const device = (at: string, index: number, more: Partial<GpuDevice> = {}): GpuDevice => ({
  node: at,
  index,
  id: `GPU-${at}-${index}`,
  name: 'A100',
  vendor: 'NVIDIA',
  driver: '13.0',
  api: 'cuda',
  capability: '8.0',
  oversubscribed: null,
  memory: 2 ** 30,
  computeUnits: 1,
  free: {memory: 2 ** 30, compute: 1},
  whole: false,
  used: 0,
  utilisation: 0,
  holders: [],
  ...more,
})
const lease = (id: string, index: number, programs: number): Lease => ({
  node: 'a',
  lease: id.repeat(32),
  state: 'held',
  owner: 'bob@laptop',
  purpose: '',
  created: HOUR,
  endsIn: null,
  holder: null,
  devices: [
    {index, id: '', name: 'A100', memory: 0, compute: 1, whole: true, cap: false, used: 0, longestLaunch: null},
  ],
  programs,
})
const holders = [{lease: '', owner: 'bob@laptop', purpose: '', memory: 0, compute: 1, whole: true, longestLaunch: null}]
const overview: Overview = {
  rack: 'lab',
  nodes: [node('a', 4), node('b', 2), node('c', 1)],
  head: {node: 'a', state: 'running', url: null},
  runs: [],
  endpoints: [],
  shared: {
    nodes: [],
    devices: [
      device('a', 0),
      device('a', 1, {holders}),
      device('a', 2, {holders}),
      device('a', 3, {holders, utilisation: 0.9}),
    ],
    leases: [lease('1', 1, 0), lease('2', 2, 1), lease('3', 3, 1)],
  },
  reservations: [
    {
      lease: 'r1',
      state: 'running',
      user: 'ada',
      owner: 'ada@laptop',
      project: 'p',
      node: 'b',
      nodes: ['b'],
      since: 0,
      over: null,
      here: true,
      wants: {gpus: ['GPU-x'], slots: 1, exclusive: false},
      silent: 0,
      ends_in: null,
      at: 'b',
    },
    {
      lease: 'r2',
      state: 'waiting',
      user: 'ada',
      owner: 'ada@laptop',
      project: 'p',
      node: 'b',
      nodes: ['b'],
      since: 0,
      over: null,
      here: true,
      wants: {gpus: ['GPU-y'], slots: 1, exclusive: false},
      silent: 0,
      ends_in: null,
      at: 'b',
    },
  ],
  unknown: [],
}
const entry = (run: string, more: Partial<UsageEntry>): UsageEntry => ({
  run,
  project: 'p',
  user: 'ada@laptop',
  rack: 'lab',
  node: 'b',
  nodes: ['b'],
  started: 0,
  ended: 2 * HOUR,
  gpus: 1,
  cpu: null,
  gpuSeen: 2 * HOUR,
  gpuBusy: 0.02 * 2 * HOUR,
  open: true,
  source: 'node',
  ...more,
})
const entries = [
  entry('r1', {}),
  entry('busy', {gpuBusy: HOUR}),
  entry('young', {gpuSeen: 60, gpuBusy: 0}),
  entry('unseen', {gpuSeen: null, gpuBusy: null}),
  entry('over', {open: false, gpuBusy: 0}),
]

test('free, leased and dark GPUs are told with who has them and why', () => {
  expect(
    idleGpus(overview, entries).map(({state, node: at, gpus, index, holder, why}) => [
      state,
      at,
      gpus,
      index,
      holder,
      why,
    ]),
  ).toEqual([
    ['free', 'a', 1, 0, null, 'shared, and nobody has a lease'],
    ['free', 'b', 1, null, null, 'no run has reserved them'],
    ['free', 'c', 1, null, null, 'no run has reserved them'],
    ['leased', 'a', 1, 1, '11111111', 'no program uses the lease'],
    ['leased', 'a', 1, 2, '22222222', 'nothing was computed in the last second'],
    ['dark', 'b', 1, null, 'r1', 'busy 2.0 % of the 120 min of its attempt'],
  ])
})

test('hours that were measured are parted into busy and idle ones, the others are called unknown', () => {
  const usage = usageReport(
    [{rack: 'lab', entries, until: 2 * HOUR, accounts: ['root'], away: null, unasked: {}}],
    'user',
    HOUR,
  )
  const [row] = usage.rows
  expect(row?.gpuHours).toBe(5) // half of each lies in the period
  expect(row?.gpuSeenHours).toBeCloseTo(3 + 1 / 120)
  expect(row?.gpuBusyHours).toBeCloseTo(0.02 + 0.5)
  const idle = idleGpus(overview, entries).map((one) => ({rack: 'lab', ...one}))
  const text = stripVTControlCharacters(idleText({idle, usage}))
  expect(text).toContain('6 GPUs idle now')
  expect(text).toMatch(/ada +5\S* h? *17 %/)
})

test('where nothing is idle, who was not asked is told all the same', () => {
  const usage = usageReport([], 'user', HOUR)
  usage.unasked['rack cloud'] = 'node-1 does not answer'
  const text = stripVTControlCharacters(idleText({idle: [], usage}))
  expect(text).toContain('No run had a GPU in that time.')
  expect(text).toContain('rack cloud was not asked: node-1 does not answer')
})
