import {beforeEach, expect, test} from 'vitest'
import {Places, type Surroundings} from '../../../../../src/lib/head/service/scaling/places.ts'

/** Two places on each of two nodes. */
const RULES = {
  longestStart: 60,
  places: ['a-0', 'b-1', 'a-2', 'b-3'].map((service, index) => ({
    service,
    node: service[0]!,
    url: `http://127.0.0.1:${index + 1}`,
  })),
}

let told: string[]
let places: Places
let now: number
let silent: Set<string>
let busy: Map<string, number>

beforeEach(() => {
  told = []
  now = 1000
  silent = new Set()
  busy = new Map()
  places = new Places((text) => told.push(text))
})

const around = (): Surroundings => ({
  now,
  inFlight: (url) => busy.get(url) ?? 0,
  isHeard: (node) => !silent.has(node),
})
const step = (wanted: number): void => places.step(wanted, around())
const states = (): Record<string, string> => Object.fromEntries(places.all().map((one) => [one.service, one.state]))
const see = (service: string, sight: 'ready' | 'silent' | 'slow', times = 1): void => {
  for (let time = 0; time < times; time++) places.saw(service, sight, now)
}
const begin = (...running: string[]): void => places.set(RULES, new Set(running), now)

test('they are spread over the nodes, and get requests once they answered', () => {
  begin()
  step(2)
  expect(states()).toEqual({'a-0': 'starting', 'b-1': 'starting', 'a-2': 'off', 'b-3': 'off'})
  expect(places.targets()).toEqual([])
  expect(places.wantedOn('a')).toEqual([
    {service: 'a-0', on: true},
    {service: 'a-2', on: false},
  ])
  see('b-1', 'ready')
  expect(places.targets()).toEqual(['http://127.0.0.1:2'])
})

test('one that goes gets no request any more, finishes those it has, and then ends', () => {
  begin('a-0', 'b-1', 'a-2')
  busy.set('http://127.0.0.1:3', 1)
  step(2)
  expect(states()['a-2']).toBe('draining') // where two are
  expect(places.targets()).toEqual(['http://127.0.0.1:1', 'http://127.0.0.1:2'])
  expect(places.on()).toContain('a-2')
  now += 1000
  step(2)
  expect(states()['a-2']).toBe('draining')
  busy.clear()
  step(2)
  expect(states()['a-2']).toBe('off')
})

test('a request that never ends does not keep it for ever', () => {
  begin('a-0', 'b-1')
  busy.set('http://127.0.0.1:2', 1).set('http://127.0.0.1:1', 1)
  step(1)
  now += 31_000
  step(1)
  expect(Object.values(states()).filter((state) => state === 'off')).toHaveLength(3)
})

test('one that drains is back at once when it is wanted again', () => {
  begin('a-0', 'b-1')
  busy.set('http://127.0.0.1:2', 1).set('http://127.0.0.1:1', 1)
  step(1)
  step(2)
  expect(places.targets()).toHaveLength(2)
})

test('what is only starting ends before what serves', () => {
  begin('a-0')
  step(3)
  step(1)
  expect(states()).toEqual({'a-0': 'ready', 'b-1': 'off', 'a-2': 'off', 'b-3': 'off'})
})

test('a server that answers nobody three times is replaced on another node; a slow one is not', () => {
  begin('a-0')
  see('a-0', 'slow', 10)
  see('a-0', 'silent', 2)
  see('a-0', 'ready')
  see('a-0', 'silent', 2)
  step(1)
  expect(places.targets()).toEqual(['http://127.0.0.1:1'])
  see('a-0', 'silent')
  silent.add('a')
  step(1)
  expect(states()).toMatchObject({'a-0': 'lost', 'b-1': 'starting', 'a-2': 'off'})
  expect(places.targets()).toEqual([])
})

test('a lost node that is back has servers too many, and they end; not before others serve', () => {
  begin('a-0', 'a-2')
  silent.add('a')
  for (const service of ['a-0', 'a-2']) see(service, 'silent', 3)
  step(2)
  expect(states()).toEqual({'a-0': 'lost', 'b-1': 'starting', 'a-2': 'lost', 'b-3': 'starting'})
  silent.delete('a')
  step(2)
  expect(places.wantedOn('a').every(({on}) => on)).toBe(true)
  see('b-1', 'ready')
  see('b-3', 'ready')
  step(2)
  step(2)
  expect(states()).toEqual({'a-0': 'off', 'b-1': 'ready', 'a-2': 'off', 'b-3': 'ready'})
})

test('a head that was cut off from all nodes ends nothing: they serve again when they answer', () => {
  begin('a-0', 'b-1')
  silent.add('a').add('b')
  for (const service of ['a-0', 'b-1']) see(service, 'silent', 5)
  now += 3_600_000
  step(2)
  expect(places.on().sort()).toEqual(['a-0', 'b-1'])
  for (const service of ['a-0', 'b-1']) see(service, 'ready')
  silent.clear()
  step(2)
  expect(places.targets()).toHaveLength(2)
})

test('one that is not ready in time, gave up, or ends again and again is left for a while, and another one is tried', () => {
  begin()
  step(1)
  now += 61_000
  step(1)
  expect(states()).toMatchObject({'a-0': 'failed', 'b-1': 'starting'})
  places.heard('b-1', {state: 'failed', restarts: 1, exit: 'exit code 3'}, now)
  step(1)
  expect(states()).toMatchObject({'b-1': 'failed', 'a-2': 'starting'})
  places.heard('a-2', {state: 'waiting', restarts: 3, exit: 'signal KILL'}, now)
  step(1)
  expect(states()).toMatchObject({'a-2': 'failed', 'b-3': 'starting'})
  expect(told.join('\n')).toMatch(/not ready within 60 s[^]*exit code 3[^]*signal KILL/)
  see('b-3', 'silent', 99)
  places.heard('b-3', {state: 'failed', restarts: 0, exit: null}, now)
  step(1)
  expect(Object.values(states())).toEqual(['failed', 'failed', 'failed', 'failed'])
  now += 15_001
  step(1)
  expect(Object.values(states()).filter((state) => state === 'starting')).toHaveLength(1)
})

test('what a server did in an earlier life does not count against one that serves', () => {
  begin('a-0')
  places.heard('a-0', {state: 'waiting', restarts: 50, exit: 'signal KILL'}, now)
  expect(states()['a-0']).toBe('ready')
})

test('nothing is asked of a node whose agent is silent', () => {
  begin()
  silent.add('a').add('b')
  step(2)
  expect(places.on()).toEqual([])
  silent.delete('b')
  step(3)
  expect(places.on()).toEqual(['b-1', 'b-3'])
})

test('places that are gone are forgotten, new ones are off, and what runs goes on', () => {
  begin('a-0')
  places.set({...RULES, places: [RULES.places[0]!, {service: 'c-9', node: 'c', url: 'http://c'}]}, new Set(), now)
  expect(states()).toEqual({'a-0': 'ready', 'c-9': 'off'})
})
