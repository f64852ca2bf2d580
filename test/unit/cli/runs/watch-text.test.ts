import {expect, test} from 'vitest'
import {LivePanel} from '../../../../src/cli/runs/live-panel.ts'
import {watchLine, watchText} from '../../../../src/cli/runs/watch-text.ts'
import type {NodeLoad, RankLoad, RunView} from '../../../../src/lib/runs/index.ts'

const GIB = 1024 ** 3
const rank = (number: number, more: Partial<RankLoad> = {}): RankLoad => ({
  rank: number,
  node: `node-${Math.floor(number / 2) + 1}`,
  step: 120 + number,
  stepsPerSecond: 3.21,
  samplesPerSecond: 102.7,
  tokensPerSecond: null,
  dataWait: 0.04,
  waitsIn: null,
  cpu: 99.6,
  memory: 2 * GIB,
  ...more,
})
const node = (number: number, more: Partial<NodeLoad> = {}): NodeLoad => ({
  node: `node-${number}`,
  status: 'running',
  ranks: 2,
  step: 100 + number,
  samplesPerSecond: 205.4,
  tokensPerSecond: null,
  dataWait: 0.04,
  cpu: 81.2,
  memory: 30 * GIB,
  memoryTotal: 64 * GIB,
  netIn: 1.2 * GIB,
  netOut: 1.1 * GIB,
  gpus: 2,
  gpu: 93,
  gpuMemory: 40 * GIB,
  gpuMemoryTotal: 160 * GIB,
  power: 512.4,
  ...more,
})
const run = (more: Partial<RunView> = {}): RunView => ({
  run: 'digits-k3x9a',
  status: 'running',
  attempt: 1,
  at: 0,
  elapsed: 723_000,
  worldSize: 4,
  step: {least: 120, most: 123},
  stepsPerSecond: 3.21,
  samplesPerSecond: 410.8,
  tokensPerSecond: null,
  dataWait: 0.04,
  metrics: [
    {key: 'accuracy', value: 0.91, step: 120, timestamp: 0},
    {key: 'loss', value: 0.1234, step: 120, timestamp: 0},
  ],
  nodes: [node(1), node(2)],
  ranks: [0, 1, 2, 3].map((one) => rank(one)),
  lost: [],
  away: null,
  ...more,
})
const lines = (view: RunView, width: number, height: number): string[] => watchText(view, {width, height}).split('\n')

test('on a wide terminal there are a head, a row a rank, and a row a node', () => {
  expect(lines(run(), 140, 40)).toEqual([
    'digits-k3x9a   running   12 min 03 s   4 ranks',
    'step 120 to 123   3.21 steps/s   411 samples/s   data wait 4.0 %',
    'loss 0.1234   accuracy 0.91',
    'RANK  NODE    STEP  STEPS/S  SAMPLES/S  DATA WAIT    CPU   MEMORY',
    '   0  node-1   120     3.21        103      4.0 %  100 %  2.0 GiB',
    '   1  node-1   121     3.21        103      4.0 %  100 %  2.0 GiB',
    '   2  node-2   122     3.21        103      4.0 %  100 %  2.0 GiB',
    '   3  node-2   123     3.21        103      4.0 %  100 %  2.0 GiB',
    '',
    'NODE    RANKS  STEP  SAMPLES/S  DATA WAIT   CPU        GPU     NET IN    NET OUT                MEMORY  GPU MEMORY  POWER',
    'node-1      2   101        205      4.0 %  81 %  93 % of 2  1.2 GiB/s  1.1 GiB/s  30.0 GiB of 64.0 GiB    40.0 GiB  512 W',
    'node-2      2   102        205      4.0 %  81 %  93 % of 2  1.2 GiB/s  1.1 GiB/s  30.0 GiB of 64.0 GiB    40.0 GiB  512 W',
  ])
})

test.each([
  [200, 50],
  [100, 30],
  [80, 24],
  [60, 24],
  [40, 24],
  [20, 10],
  [80, 8],
  [80, 4],
  [80, 1],
  [10, 1],
])('nothing is wider or higher than a terminal of %i by %i', (width, height) => {
  const many = run({
    ranks: Array.from({length: 64}, (_, index) => rank(index)),
    nodes: Array.from({length: 32}, (_, index) => node(index + 1)),
  })
  for (const view of [run(), many, run({ranks: [], nodes: [], metrics: [], step: null})]) {
    const shown = lines(view, width, height)
    expect(shown.length).toBeLessThanOrEqual(height)
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(width)
  }
})

test('beyond eight ranks there is a row a node, and where there is no room for all those furthest behind are shown', () => {
  const nodes = Array.from({length: 32}, (_, index) => node(index + 1, index === 20 ? {step: 7} : {}))
  const shown = lines(run({ranks: Array.from({length: 64}, (_, index) => rank(index)), nodes}), 100, 12)
  expect(shown.filter((line) => line.startsWith('node-')).map((line) => line.split(' ')[0])).toContain('node-21')
  expect(shown.at(-1)).toMatch(/^and \d+ other nodes; those furthest behind are shown$/)
  expect(shown.some((line) => line.startsWith('RANK'))).toBe(false)
})

test('columns that nobody has a value for are left out, and what is not known of one is a dash', () => {
  const shown = lines(
    run({
      step: null,
      stepsPerSecond: null,
      samplesPerSecond: null,
      dataWait: null,
      metrics: [],
      ranks: [rank(0, {step: null, stepsPerSecond: null, samplesPerSecond: null, dataWait: null, cpu: null})],
      nodes: [
        node(1, {gpu: null, gpus: 0, gpuMemory: null, power: null, step: null, samplesPerSecond: null, dataWait: null}),
      ],
    }),
    140,
    30,
  )
  expect(shown).toContain('RANK  NODE    STEP  STEPS/S  DATA WAIT  CPU   MEMORY')
  expect(shown).toContain('   0  node-1     -        -          -    -  2.0 GiB')
  expect(shown.join('\n')).not.toMatch(/GPU|SAMPLES|TOKENS|POWER/)
})

test('nodes that do not answer, a second attempt and a tracking server that is away are said', () => {
  const text = watchText(run({attempt: 2, lost: ['node-2'], away: 'rack lab has no head running'}), {
    width: 120,
    height: 30,
  })
  expect(text).toContain('attempt 2')
  expect(text).toContain('no answer from node-2: what is shown of them is old')
  expect(text).toContain('metrics: rack lab has no head running')
})

test('a rank that waits in a collective is shown with it', () => {
  expect(watchText(run({ranks: [rank(0, {waitsIn: 'all_reduce'}), rank(1)]}), {width: 120, height: 30})).toContain(
    'in all_reduce',
  )
})

test('in a pipe everything is one line', () => {
  expect(watchLine(run())).toBe(
    'step 120 to 123, 3.21 steps/s, 411 samples/s, loss 0.1234, accuracy 0.91, data wait 4.0 %, CPU 81 %, GPU 93 %, net 1.2 GiB/s in, 1.1 GiB/s out a node',
  )
  expect(
    watchLine(
      run({
        step: null,
        stepsPerSecond: null,
        samplesPerSecond: null,
        dataWait: null,
        metrics: [],
        nodes: [],
        ranks: [],
        status: 'waiting',
      }),
    ),
  ).toBe('waiting')
})

/** What a terminal shows after what was written to it: as much of ECMA-48 as a panel uses. */
class Terminal {
  columns: number
  rows: number
  lines: string[] = ['']
  cursor = true
  #row = 0
  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }
  write(text: string): void {
    for (const [token, digits, letter] of text.matchAll(/\x1b\[(\??\d*)([A-Za-z])|[^\x1b]/g)) {
      if (letter === 'A') this.#row = Math.max(this.lines.length - this.rows, this.#row - Number(digits))
      else if (letter === 'J') this.lines = [...this.lines.slice(0, this.#row), '']
      else if (letter === 'h' || letter === 'l') this.cursor = letter === 'h'
      else if (token === '\n') {
        this.#row++
        this.lines[this.#row] ??= ''
      } else if (token !== '\r') this.lines[this.#row] += token
    }
  }
  /** As a terminal does that is made narrower: lines that are too long are broken. */
  narrow(columns: number): void {
    this.columns = columns
    this.lines = this.lines.flatMap((line) =>
      line === '' ? [''] : (line.match(new RegExp(`.{1,${columns}}`, 'g')) as string[]),
    )
    this.#row = this.lines.length - 1
  }
}

test('a panel is drawn over in place, other lines scroll above it, and the end leaves the terminal as it was', () => {
  const terminal = new Terminal(40, 10)
  const panel = new LivePanel(terminal)
  panel.draw('one\ntwo\nthree')
  expect(terminal.cursor).toBe(false)
  panel.print('a log line\nanother')
  panel.draw('ONE\nTWO')
  expect(terminal.lines).toEqual(['a log line', 'another', 'ONE', 'TWO', ''])
  panel.close()
  expect(terminal.cursor).toBe(true)
  panel.draw('late')
  panel.print('late')
  panel.close()
  expect(terminal.lines).toEqual(['a log line', 'another', 'ONE', 'TWO', ''])
})

test('a terminal that is made narrower keeps nothing of the panel that it broke', () => {
  const terminal = new Terminal(40, 10)
  const panel = new LivePanel(terminal)
  panel.print('kept')
  panel.draw('x'.repeat(30))
  terminal.narrow(20)
  panel.draw('new')
  expect(terminal.lines).toEqual(['kept', 'new', ''])
  expect(panel.size).toEqual({width: 19, height: 9})
})
