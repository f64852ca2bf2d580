import {expect, test} from 'vitest'
import {usageCsv, usageText} from '../../../src/cli/usage/text.ts'
import {
  sinceOf,
  summarizeUsage,
  usageReport,
  type RackUsage,
  type UsageEntry,
  type UsageReport,
} from '../../../src/lib/usage/index.ts'

const HOUR = 3600
const entry = (more: Partial<UsageEntry>): UsageEntry => {
  const node = more.node === undefined ? 'node-1' : more.node
  return {
    run: 'r1',
    project: 'digits',
    user: 'ada@laptop',
    node,
    rack: 'lab',
    nodes: node === null ? [] : [node],
    started: 10 * HOUR,
    ended: 12 * HOUR,
    gpus: 4,
    cpu: 3 * HOUR,
    gpuSeen: null,
    gpuBusy: null,
    open: false,
    source: 'node',
    ...more,
  }
}

test('a user is one at every machine; attempts and nodes of a run are one run, and their hours add up', () => {
  const {rows, total} = summarizeUsage(
    [
      entry({}),
      entry({node: 'node-2'}),
      entry({run: 'r2', user: 'ada@desk', gpus: 0, started: 12 * HOUR, ended: 13 * HOUR, cpu: HOUR, open: true}),
      entry({run: 'r3', user: 'bob', gpus: 1, cpu: null}),
    ],
    'user',
    0,
    20 * HOUR,
  )
  expect(rows).toEqual([
    {
      name: 'ada',
      runs: 2,
      running: 1,
      gpuHours: 16,
      gpuSeenHours: null,
      gpuBusyHours: null,
      coreHours: 7,
      nodeHours: 5,
    },
    {
      name: 'bob',
      runs: 1,
      running: 0,
      gpuHours: 2,
      gpuSeenHours: null,
      gpuBusyHours: null,
      coreHours: null,
      nodeHours: 2,
    },
  ])
  expect(total).toEqual({
    runs: 3,
    running: 1,
    gpuHours: 18,
    gpuSeenHours: null,
    gpuBusyHours: null,
    coreHours: 7,
    nodeHours: 7,
  })
})

test('only what lies within the time counts', () => {
  const {rows} = summarizeUsage(
    [entry({}), entry({run: 'old', started: 0, ended: 10.5 * HOUR})],
    'project',
    11 * HOUR,
    100 * HOUR,
  )
  expect(rows).toEqual([
    {
      name: 'digits',
      runs: 1,
      running: 0,
      gpuHours: 4,
      gpuSeenHours: null,
      gpuBusyHours: null,
      coreHours: 1.5,
      nodeHours: 1,
    },
  ])
})

test('a run that only the tracking server knows is shared out over its nodes', () => {
  const known = entry({node: null, nodes: ['a', 'b'], gpus: 8, cpu: null, source: 'record'})
  expect(summarizeUsage([known], 'node', 0, 20 * HOUR).rows).toEqual(
    ['a', 'b'].map((name) => ({
      name,
      runs: 1,
      running: 0,
      gpuHours: 8,
      gpuSeenHours: null,
      gpuBusyHours: null,
      coreHours: null,
      nodeHours: 2,
    })),
  )
  expect(summarizeUsage([known], 'user', 0, 20 * HOUR).rows).toEqual([
    {
      name: 'ada',
      runs: 1,
      running: 0,
      gpuHours: 16,
      gpuSeenHours: null,
      gpuBusyHours: null,
      coreHours: null,
      nodeHours: 4,
    },
  ])
})

test.each([
  ['30d', 1000 * 86_400 - 30 * 86_400],
  ['12h', 1000 * 86_400 - 12 * HOUR],
  ['2w', 1000 * 86_400 - 14 * 86_400],
  ['all', 0],
  ['1971-01-01', 365 * 86_400],
])('--since %s is understood', (text, seconds) => {
  expect(sinceOf(text, 1000 * 86_400)).toBe(seconds)
})

test.each(['30', 'yesterday', '-3d', ''])('--since %j is refused', (text) => {
  expect(() => sinceOf(text, 0)).toThrow(expect.objectContaining({code: 'USAGE'}))
})

const report = (more: Partial<UsageReport> = {}): UsageReport => ({
  by: 'user',
  since: 0,
  until: 20 * HOUR,
  ...summarizeUsage([entry({}), entry({run: 'r2', user: 'bob, the "builder"', cpu: null})], 'user', 0, 20 * HOUR),
  accounts: ['ada'],
  fromRecords: 1,
  away: null,
  unasked: {},
  ...more,
})

test('the table says whose files were read, and what is missing', () => {
  const text = usageText(report({away: 'rack lab has no head running', unasked: {'node-9': 'no route'}}))
  expect(text).toMatch(/^all +2 +16 +3 +4$/m)
  expect(text).toContain(
    'From the files of ada on the nodes, and 1 run that only the tracking server knows (core hours are not known of those).',
  )
  expect(text).toContain(
    'Runs of other accounts are not in it: the tracking server was not asked (rack lab has no head running).',
  )
  expect(text).toContain('node-9 was not asked: no route')
})

test('values with commas and quotes are quoted', () => {
  expect(usageCsv(report()).split('\n')).toEqual([
    'user,runs,running,gpu_hours,core_hours,node_hours,gpu_seen_hours,gpu_busy_hours',
    'ada,1,0,8,3,2,,',
    '"bob, the ""builder""",1,0,8,,2,,',
  ])
})

test('no name is a formula of a spreadsheet, and none begins a line of its own', () => {
  const named = (name: string): string => {
    const {rows, ...others} = report()
    return usageCsv({...others, rows: [{...rows[0]!, name}]})
      .split('\n')
      .slice(1)
      .join('\n')
  }
  for (const name of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1']) expect(named(name)).toMatch(`'${name},1,`)
  expect(named('=HYPERLINK("http://x","y")')).toMatch(/^"'=HYPERLINK\(""http:\/\/x"",""y""\)",1/)
  expect(named('a\r=1')).toMatch(/^"a\r=1",/)
  expect(named('ada-2')).toMatch(/^ada-2,/)
})

const rackUsage = (rack: string, more: Partial<RackUsage>): RackUsage => ({
  rack,
  entries: [],
  until: 20 * HOUR,
  accounts: ['ada'],
  away: null,
  unasked: {},
  ...more,
  ...(more.entries && {entries: more.entries.map((one) => ({...one, rack}))}),
})

test('over several racks a machine of two of them counts once, nodes have the name of their rack, and so have reasons', () => {
  const lab = rackUsage('lab', {
    entries: [entry({}), entry({node: 'node-2'}), entry({run: 'r4', source: 'record', node: null, nodes: ['a']})],
    away: 'connection refused',
  })
  const cloud = rackUsage('cloud', {
    entries: [entry({node: 'other-name'}), entry({run: 'r2', gpus: 1}), entry({run: 'r4', node: 'node-1'})],
    unasked: {'node-9': 'timed out'},
  })
  const byRack = usageReport([lab, cloud], 'rack', 0)
  expect(byRack.rows.map(({name, runs, gpuHours}) => [name, runs, gpuHours])).toEqual([
    ['lab', 1, 16],
    ['cloud', 2, 10],
  ])
  expect(byRack).toMatchObject({
    total: {runs: 3, gpuHours: 26},
    fromRecords: 0,
    away: 'rack lab: connection refused',
    unasked: {'cloud/node-9': 'timed out'},
  })
  expect(usageReport([lab, cloud], 'node', 0).rows.map(({name}) => name)).toEqual([
    'cloud/node-1',
    'lab/node-1',
    'lab/node-2',
  ])
  expect(usageReport([lab], 'node', 0).rows.map(({name}) => name)).toEqual(['a', 'node-1', 'node-2'])
})

test('by hour and by day each has its part of every run, in order, and all together are the whole', () => {
  const entries = [
    entry({
      started: 9.5 * HOUR,
      ended: 11.25 * HOUR,
      gpus: 2,
      gpuSeen: 2 * 1.75 * HOUR,
      gpuBusy: 1.75 * HOUR,
      cpu: null,
    }),
    entry({run: 'r2', started: 30 * HOUR, ended: 30.5 * HOUR, gpus: 1, cpu: null}),
  ]
  const {rows, total} = summarizeUsage(entries, 'hour', 10 * HOUR, 40 * HOUR)
  const shown = rows.map(({name, runs, gpuHours, gpuBusyHours}) => [name, runs, gpuHours, gpuBusyHours])
  expect(shown).toEqual([
    ['1970-01-01 10:00Z', 1, 2, 1],
    ['1970-01-01 11:00Z', 1, 0.5, 0.25],
    ['1970-01-02 06:00Z', 1, 0.5, null],
  ])
  expect(total.gpuHours).toBe(3)
  const days = summarizeUsage(entries, 'day', 0, 40 * HOUR).rows
  expect(days.map(({name, gpuHours}) => [name, gpuHours])).toEqual([
    ['1970-01-01', 3.5],
    ['1970-01-02', 0.5],
  ])
})
