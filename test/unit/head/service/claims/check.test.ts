import {expect, test} from 'vitest'
import {excesses, quotaUses, type Asked} from '../../../../../src/lib/head/service/claims/check.ts'
import {EMPTY_LEDGER, hoursNow, usedNow, withEnded} from '../../../../../src/lib/head/service/claims/ledger.ts'
import type {HeadClaim} from '../../../../../src/lib/protocol/index.ts'

const asked = (user: string, gpus: number, more: Partial<Asked> = {}): Asked => ({
  user,
  teams: ['vision'],
  project: 'digits',
  gpus,
  limit: null,
  ...more,
})
const counted = [
  {run: 'a', ...asked('alice', 4)},
  {run: 'b', ...asked('bob', 2, {teams: ['vision', 'speech']})},
  {run: 'c', ...asked('carol', 8, {teams: []})},
]
const texts = (quotas: Parameters<typeof excesses>[0], one: Asked, hours = {}): string[] =>
  excesses(quotas, counted, hours, one).map((each) => each.text)

test('a team counts what its people have, and shares add up', () => {
  const quotas = {'team:vision': {gpus: {most: 8}}}
  expect(texts(quotas, asked('alice', 4))).toEqual(['GPUs of team vision: 6 (alice 4, bob 2) + 4 > 8'])
  expect(texts(quotas, asked('alice', 2))).toEqual([])
  expect(texts(quotas, asked('alice', 2.25))).toEqual(['GPUs of team vision: 6 (alice 4, bob 2) + 2.25 > 8'])
  expect(texts(quotas, asked('carol', 4, {teams: []})), 'not of that team').toEqual([])
  expect(texts(quotas, asked('alice', 0)), 'a run without GPUs').toEqual([])
})

test('whatever somebody is called, what they have counts', () => {
  const held = [
    {run: 'a', ...asked('constructor', 8)},
    {run: 'b', ...asked('__proto__', 2)},
  ]
  expect(excesses({'team:vision': {gpus: {most: 8}}}, held, {}, asked('alice', 1)).map((one) => one.have)).toEqual([10])
})

test("each user's own quota goes before that of all", () => {
  const quotas = {'user:*': {gpus: {most: 4}, runs: {most: 1}}, 'user:alice': {gpus: {most: 6}}}
  expect(texts(quotas, asked('alice', 2))).toEqual(['runs of user alice: 1 + 1 > 1'])
  expect(texts(quotas, asked('bob', 3))).toEqual(['GPUs of user bob: 2 + 3 > 4', 'runs of user bob: 1 + 1 > 1'])
  expect(texts(quotas, asked('constructor', 1))).toEqual([])
})

test('GPU hours count those that a run declares, and without it only whether some are left', () => {
  const quotas = {'project:digits': {gpu_hours: {most: 100}}}
  const [almost, none] = [{'project:digits': 90}, {'project:digits': 100}]
  expect(texts(quotas, asked('alice', 4, {limit: 3 * 3600}), almost)).toEqual([
    'GPU hours of this month of project digits: 90 + 12 > 100',
  ])
  expect(texts(quotas, asked('alice', 4), almost)).toEqual([])
  expect(texts(quotas, asked('alice', 4), none)).toEqual([
    'GPU hours of this month of project digits: 100 of 100 are used',
  ])
  expect(texts(quotas, asked('alice', 0), none)).toEqual([])
  expect(quotaUses({'team:vision': {gpus: {most: 8, soft: true}}, 'user:*': {runs: {most: 2}}}, counted, {})).toEqual([
    {of: 'team:vision', limits: [{what: 'gpus', most: 8, soft: true, have: 6, by: {alice: 4, bob: 2}}]},
    {of: 'user:*', limits: [{what: 'runs', most: 2, soft: false, have: null, by: {}}]},
  ])
})

test('hours are those of this month, also of a run that began in the last one', () => {
  const at = (text: string): number => Date.parse(text)
  const claim = {...asked('alice', 2), heldAt: at('2026-10-31T22:00:00Z')} as HeadClaim
  const now = at('2026-11-01T03:00:00Z')
  expect(hoursNow(EMPTY_LEDGER, [claim], now)).toEqual({'user:alice': 6, 'team:vision': 6, 'project:digits': 6})
  const ledger = withEnded(EMPTY_LEDGER, claim, now)
  expect(ledger).toMatchObject({month: '2026-11', hours: {'user:alice': 6}})
  expect(hoursNow(ledger, [], at('2026-12-01T00:00:01Z'))).toEqual({})
  expect(usedNow(ledger, [], now).alice).toBeCloseTo(10, 0)
  expect(usedNow(ledger, [], now + 7 * 86_400_000).alice).toBeCloseTo(5, 0)
})
