import {expect, test} from 'vitest'
import {CliError, makeContext, silentReporter} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import {untilOver} from '../../../src/lib/sweep/again.ts'
import {Engine} from '../../../src/lib/sweep/engine.ts'

const PATIENCE = {total: 600_000, first: 1, most: 4}
const LOST = new CliError('NODE_UNREACHABLE', 'the connection to node-1 was lost')
const OWN = new CliError('LOCKED', 'held by us')

/** `plays`: what each time brings, a result or an error; `held` before it, but where it says not. */
function play(plays: (string | Error | {before: Error})[]): {
  tries: number[]
  warnings: string[]
  lost: Error[]
  over: (parts?: {signal?: AbortSignal; total?: number}) => Promise<string>
} {
  const [tries, warnings, lost]: [number[], string[], Error[]] = [[], [], []]
  let planned = 0
  const once = async (plan: number, held: () => void): Promise<string> => {
    tries.push(plan)
    const next = plays.shift() ?? 'too far'
    if (typeof next === 'object' && 'before' in next) throw next.before
    held()
    if (next instanceof Error) throw next
    return next
  }
  return {
    tries,
    warnings,
    lost,
    over: ({signal, total} = {}) =>
      untilOver(
        0,
        {
          once,
          next: async () => ++planned,
          isOwnLock: (error) => error === OWN,
          lost: (error) => void lost.push(error),
        },
        {...PATIENCE, total: total ?? PATIENCE.total},
        makeContext({reporter: {...silentReporter, warn: (text) => warnings.push(text)}, ...(signal && {signal})}),
      ),
  }
}

test('after a lost connection it goes on, each time as it is planned anew', async () => {
  const silent = new CliError('TIMED_OUT', 'silent')
  const {over, tries, warnings, lost} = play([LOST, {before: LOST}, {before: OWN}, silent, 'done'])
  expect([await over(), tries]).toEqual(['done', [0, 1, 2, 3, 4]])
  expect(warnings).toHaveLength(4)
  expect(lost).toEqual([LOST, LOST, OWN, silent])
  expect(warnings[0]).toMatch(/^the connection to node-1 was lost; .* next try in 1 s$/)
})

test('what is no lost connection ends it, and so does one before it ever had what it needs', async () => {
  const reserved = new CliError('RESERVED', 'taken')
  const other = new CliError('LOCKED', 'held by somebody else')
  await expect(play([LOST, reserved, 'never']).over()).rejects.toBe(reserved)
  await expect(play([LOST, {before: other}, 'never']).over()).rejects.toBe(other)
  await expect(play([{before: LOST}, 'never']).over()).rejects.toBe(LOST)
})

test('the patience has an end', async () => {
  const {over, tries} = play([LOST, 'never'])
  await expect(over({total: -1})).rejects.toBe(LOST)
  expect(tries).toEqual([0])
})

test('whoever waits for a connection can be stopped', async () => {
  const control = new AbortController()
  const endless = untilOver(
    0,
    {
      once: async (_plan, held) => {
        held()
        throw LOST
      },
      next: async () => 0,
      isOwnLock: () => false,
    },
    {total: 600_000, first: 500_000, most: 500_000},
    makeContext({signal: control.signal, reporter: {...silentReporter, warn: () => control.abort()}}),
  )
  await expect(endless).rejects.toMatchObject({code: 'INTERRUPTED'})
})

test('an engine that ended because it heard nothing from a machine that slept is no failure of the sweep', async () => {
  const host = {node: 'node-1', call: async () => ({})} as unknown as Host
  const engine = new Engine(host, {sweep: 's', python: 'python', owner: 'ada'}, makeContext())
  await expect(engine.ready).rejects.toMatchObject({
    code: 'TIMED_OUT',
    message: expect.stringMatching(/heard nothing from here/),
  })
})
