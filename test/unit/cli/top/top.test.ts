import {stripVTControlCharacters} from 'node:util'
import {expect, test} from 'vitest'
import {panesOf} from '../../../../src/cli/top/panes.ts'
import {rackView} from '../../../../src/cli/top/rack-view.ts'
import {screenLines, wholeText} from '../../../../src/cli/top/screen.ts'
import {pressed, shownRows, startState, type Key, type TopAction, type TopState} from '../../../../src/cli/top/state.ts'
import {busyShare, type NodeSummary, type Overview} from '../../../../src/lib/overview/index.ts'

const CLOCK = Date.UTC(2030, 0, 1)

function node(name: string, busy = 0, all = 0): NodeSummary {
  return {
    node: name,
    host: name,
    ok: true,
    gone: false,
    cores: 8,
    load: 1,
    ticks: {busy, all},
    memory: {available: 2 ** 30, total: 2 ** 32},
    disk: {free: 2 ** 30, total: 2 ** 31},
    gpus: 0,
  }
}

function run(id: string, status: 'running' | 'finished', nodes = ['gpu1']): Overview['runs'][number] {
  const more = {
    project: null,
    user: null,
    doubt: null,
    leader: null,
    term: null,
    worldSize: 4,
    attempt: 1,
    cause: null,
    rebooted: [],
  }
  const rest = {metrics: {}, experiment: null, trackedId: null, recorded: true, onNodes: true, sweep: null, slurm: null}
  return {...more, ...rest, run: id, status, nodes, started: CLOCK - 60_000, ended: status === 'running' ? null : CLOCK}
}

function overview(more: Partial<Overview> = {}): Overview {
  return {
    rack: 'lab',
    nodes: [node('gpu1', 900, 1000), node('gpu2', 100, 1000), node('gpu10', 500, 1000)],
    head: {node: 'gpu1', state: 'running', url: null},
    runs: [run('digits-old', 'finished'), run('digits-new', 'running')],
    endpoints: [],
    shared: {devices: [], leases: [], nodes: []},
    reservations: [],
    unknown: [],
    ...more,
  }
}

const before = overview({nodes: [node('gpu1'), node('gpu2'), node('gpu10')]})
const panes = panesOf(overview(), before, CLOCK)

function keys(typed: string[], start: TopState = startState({}, 2)): {state: TopState; actions: TopAction[]} {
  const actions: TopAction[] = []
  let state = start
  for (const one of typed) {
    const key: Key = one.length === 1 ? {name: one, text: one, ctrl: false} : {name: one, text: '', ctrl: false}
    const next = pressed(state, key, panes)
    state = next.state
    if (next.action) actions.push(next.action)
  }
  return {state, actions}
}

const ids = (name: string, state: TopState): string[] =>
  shownRows(
    panes.find((pane) => pane.name === name)!,
    state,
  ).map((row) => row.id)

test('processors are as busy as the ticks between two looks say; a rebooted node says nothing', () => {
  expect(busyShare(node('a', 150, 400), node('a', 100, 200))).toBe(0.25)
  expect(busyShare(node('a', 10, 20), node('a', 100, 200))).toBeNull()
  expect(busyShare(node('a', 10, 20), undefined)).toBeNull()
})

test('who uses most is at the top, names rise with their numbers, runs that go on come first', () => {
  expect(ids('nodes', startState({}, 2))).toEqual(['gpu1', 'gpu2', 'gpu10'])
  expect(ids('nodes', startState({sort: 'cpu'}, 2))).toEqual(['gpu1', 'gpu10', 'gpu2'])
  expect(ids('nodes', {...startState({sort: 'cpu'}, 2), reversed: true})).toEqual(['gpu2', 'gpu10', 'gpu1'])
  expect(ids('runs', startState({sort: 'cpu'}, 2))).toEqual(['digits-new', 'digits-old'])
})

test('a run is stopped after y only, and one that has ended not at all', () => {
  expect(keys(['x', 'y']).actions).toEqual([{kind: 'stop', run: 'digits-new'}])
  expect(keys(['x', 'q'])).toMatchObject({actions: [], state: {mode: 'list', message: 'nothing was changed'}})
  expect(keys(['down', 'x', 'y'])).toMatchObject({actions: [], state: {mode: 'list'}})
})

test('a filter is typed, may have any letter, and goes with Escape before q leaves', () => {
  const filtered = keys(['/', 'q', 'x', 'backspace', 'return']).state
  expect(filtered).toMatchObject({filter: 'q', mode: 'list'})
  expect(keys(['escape', 'q'], filtered)).toMatchObject({state: {filter: ''}, actions: [{kind: 'quit'}]})
  expect(ids('nodes', {...filtered, filter: 'GPU1'})).toEqual(['gpu1', 'gpu10'])
})

test('the cursor stays on its line when lines come, and panes without lines are passed over', () => {
  const {state} = keys(['j'])
  expect(state.chosen.runs).toBe('digits-old')
  expect(keys(['l'], state).actions).toEqual([{kind: 'logs', run: 'digits-old'}])
  expect(keys(['\t']).state.pane).toBe('nodes')
  expect(keys(['tab']).state.pane).toBe('nodes')
})

test('keys of htop do here what they do there', () => {
  expect(keys(['f9', 'y', 'f10']).actions).toEqual([{kind: 'stop', run: 'digits-new'}, {kind: 'quit'}])
  expect(keys(['f1']).state.mode).toBe('help')
  expect(keys(['f3', 'a', 'return', 'f6']).state).toMatchObject({filter: 'a', sort: {runs: 'time'}})
  expect(keys(['T', 'I']).state).toMatchObject({sort: {runs: 'time'}, reversed: true})
  expect(keys(['P']).state).toMatchObject({sort: {}, message: 'runs have no column of that kind'})
  expect(keys(['left', 'P']).state.sort).toEqual({nodes: 'cpu'})
  // Typed they are letters.
  expect(keys(['/', 'P', 'M']).state.filter).toBe('PM')
})

test('where nothing runs the keys are for the nodes, which have the cursor', () => {
  const view = rackView(overview({runs: []}), before, startState({}, 2), CLOCK)
  const down = pressed(view.state, {name: 'down', text: '', ctrl: false}, view.panes)
  expect(down.state.chosen).toEqual({nodes: 'gpu2'})
  const lines = screenLines({...view, state: down.state}, {width: 40, height: 10}, CLOCK)
  const text = lines.map((line) => stripVTControlCharacters(line))
  expect(text.filter((line) => line.startsWith('> gpu2'))).toHaveLength(1)
  expect(text.at(-1), 'on the narrowest screen, too').toContain('? help  q quit')
})

test.each([
  [80, 24],
  [40, 8],
  [200, 60],
  [20, 4],
])('a screen of %i x %i gets as many lines, none wider, whatever there is', (width, height) => {
  const many = overview({
    nodes: Array.from({length: 64}, (_, at) => node(`node-${at}`)),
    runs: Array.from({length: 50}, (_, at) => run(`digits-${at}`, 'running', ['node-1', 'node-2', 'node-3'])),
    unknown: [{part: 'endpoints', message: 'the head\ndoes not answer'}],
  })
  for (const mode of ['list', 'help', 'typing'] as const) {
    const state = {...startState({}, 2), mode}
    const view = rackView(many, undefined, state, CLOCK)
    const lines = screenLines(view, {width, height}, CLOCK).map((line) => stripVTControlCharacters(line))
    expect(lines).toHaveLength(height)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width)
  }
})

test('the chosen line is on the screen, however many there are, and old data says so', () => {
  const many = overview({runs: Array.from({length: 50}, (_, at) => run(`digits-${at}`, 'running'))})
  const state = {...startState({}, 2), chosen: {runs: 'digits-44'}}
  const view = rackView(many, undefined, state, CLOCK)
  const text = screenLines(view, {width: 100, height: 24}, CLOCK + 60_000).map((line) => stripVTControlCharacters(line))
  expect(text.filter((line) => line.startsWith('> digits-44'))).toHaveLength(1)
  expect(text.at(-1)).toContain('60 s old')
})

test('what could not be asked is told, in a pipe all of it', () => {
  const failed = {...node('gpu9'), ok: false, code: 'NODE_UNREACHABLE', message: 'gpu9 does not answer'}
  const now = overview({nodes: [failed], unknown: [{part: 'runs', message: 'no answer'}]})
  const view = rackView(now, undefined, startState({}, 2), CLOCK)
  const text = stripVTControlCharacters(wholeText(view, Infinity))
  expect(text).toContain('gpu9: gpu9 does not answer')
  expect(text).toContain('runs not known: no answer')
  expect(text).toContain('0 of 1 node')
})
