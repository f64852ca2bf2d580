import {stripVTControlCharacters} from 'node:util'
import {expect, test} from 'vitest'
import {loadPanes} from '../../../../src/cli/top/load-panes.ts'
import {loadText, loadView} from '../../../../src/cli/top/load.ts'
import {pressed, shownRows, startState} from '../../../../src/cli/top/state.ts'
import type {EndpointLoad, LoadReport} from '../../../../src/lib/endpoint/index.ts'

const QUIET = {requests: 0, failed: 0, inFlight: 0, p50: null, p95: null, p99: null, tokens: 0, firstP50: null}
const BUSY = {...QUIET, requests: 250, failed: 2, inFlight: 4, p50: 3, p95: 9, p99: 40}

function endpoint(name: string, more: Partial<EndpointLoad> = {}): EndpointLoad {
  const parts = {queued: 0, waitP50: null, batch: null, releases: [], clients: [], servers: []}
  return {name, state: 'serving', model: `${name}/1`, ...QUIET, ...parts, ...more}
}

const gpus = [{node: 'gpu2', index: 1, name: 'sim', busy: 0.42, used: 2 ** 20, memory: 2 ** 30}]
const REPORT: LoadReport = {
  rack: 'lab',
  seconds: 2,
  endpoints: [
    endpoint('chat', {tokens: 120, firstP50: 31}),
    endpoint('digits', {
      ...BUSY,
      queued: 7,
      waitP50: 12,
      batch: 8.5,
      releases: [{...BUSY, release: 'r3', percent: 90, batch: 8.5}],
      clients: [{...BUSY, client: 'team-a', limited: 3}],
      servers: [{server: 'endpoint-digits-r3-0', node: 'gpu1', release: 'r3', inFlight: 4, requests: 250, gpus}],
    }),
  ],
  unknown: [{node: 'gpu9', message: 'gpu9 does not answer'}],
}
const PANES = {names: ['endpoints'], first: 'endpoints'}

test('in a pipe all of it is written: who is busiest first, GPUs, who waits, and what is not known', () => {
  const text = stripVTControlCharacters(loadText(REPORT, {}, 2, Infinity))
  expect(text).toMatch(/^endpoints of rack lab {2}\S+ {2}over 2.0 s\n/)
  expect(text.indexOf('digits')).toBeLessThan(text.indexOf('chat'))
  for (const part of ['250/s', '2/s', '7 (12 ms)', '8.5', '120/s', '31 ms', '90 %', 'team-a', '3/s', '42 % gpu2:1'])
    expect(text).toContain(part)
  expect(text).toContain('GPUs of gpu9 not known: gpu9 does not answer')
  expect(loadText({...REPORT, endpoints: []}, {}, 2, 80)).toContain('flexrack endpoint deploy')
})

test('the first look goes back to the start of the head; one after a long pause does not', () => {
  const start = startState({}, 2, PANES)
  const over = (seconds: number, isFirst: boolean): string[] => loadView({...REPORT, seconds}, start, 0, isFirst).facts
  expect(over(3, true)).toEqual(['over 3 s, since the head was started'])
  expect(over(60, false)).toEqual(['over 60.0 s'])
})

test('keys sort; those of runs do nothing where no runs are', () => {
  const panes = loadPanes(REPORT)
  const start = startState({sort: 'first'}, 2, PANES)
  expect(shownRows(panes[0]!, start).map(({id}) => id)).toEqual(['chat', 'digits'])
  const key = (text: string): object => pressed(start, {name: text, text, ctrl: false}, panes)
  expect(key('x')).toEqual({state: start})
  expect(key('l')).toEqual({state: start})
  expect(key('s')).toMatchObject({state: {message: 'sorted by waiting'}})
})

test('a name that would break the line does not', () => {
  const clients = [{...BUSY, client: 'a\nb', limited: 0}]
  const [, , pane] = loadPanes({...REPORT, endpoints: [endpoint('digits', {clients})]})
  expect(pane?.rows[0]?.cells.client).toBe('a b')
})
