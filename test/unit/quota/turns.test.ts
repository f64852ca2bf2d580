import {expect, test} from 'vitest'
import {CliError, makeContext, silentReporter, type Context} from '../../../src/lib/base/index.ts'
import type {ClaimAnswer} from '../../../src/lib/head/index.ts'
import {openTurns, type RunTurns} from '../../../src/lib/quota/index.ts'

const PARTS = [{node: 'n1', gpus: ['GPU-1', 'GPU-2'], exclusive: false}]
const HELD: ClaimAnswer = {state: 'held', over: [], passes: [], why: null}

interface Asked {
  turns: RunTurns
  /** What the head was asked. */
  calls: [string, string, unknown][]
  warnings: string[]
}

function asking(answer: () => ClaimAnswer, quotas: boolean): Asked {
  const [calls, warnings]: [Asked['calls'], string[]] = [[], []]
  const context: Context = makeContext({
    reporter: {...silentReporter, warn: (text: string) => void warnings.push(text)},
  })
  const request = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    calls.push([method, path, body])
    return (method === 'POST' ? answer() : {}) as T
  }
  const wish = {run: 'digits-1', project: 'digits', priority: 0, limit: null, gpus: () => 2}
  return {turns: openTurns({quotas, request}, wish, true, context), calls, warnings}
}

test('without quotas the head is asked by who has to wait, and by nobody else', async () => {
  const {turns, calls} = asking(() => HELD, false)
  expect(await turns.granted(PARTS)).toEqual({go: true, why: null})
  await turns.release()
  expect(calls).toEqual([])
  expect(await turns.turn(PARTS, [])).toEqual({go: true, passes: [], why: null})
  expect(calls).toMatchObject([['POST', '/flexrack/v1/claims', {run: 'digits-1', gpus: 2, wait: true, seen: []}]])
  await turns.release()
  expect(calls[1]).toEqual(['DELETE', '/flexrack/v1/claims/digits-1', undefined])
})

test('with quotas it is asked before anything is kept: its refusal stands, and a soft limit is told', async () => {
  const soft = {of: 'user:ada', what: 'gpus', have: 0, more: 2, most: 1, soft: true, by: {}, text: 'the sum'} as const
  const over = asking(() => ({...HELD, over: [soft]}), true)
  expect(await over.turns.granted(PARTS)).toMatchObject({go: true})
  expect(over.warnings).toEqual(['over a soft quota: the sum'])
  over.turns.close()
  const refused = asking(() => {
    throw new CliError('QUOTA', 'GPUs of user ada: 0 + 2 > 1')
  }, true)
  await expect(refused.turns.granted(PARTS)).rejects.toMatchObject({code: 'QUOTA'})
})

test("where the head does not answer the nodes' own line decides, and that is told once", async () => {
  const {turns, warnings} = asking(() => {
    throw new CliError('NODE_UNREACHABLE', 'the head is away')
  }, true)
  expect(await turns.turn(PARTS, [])).toEqual({go: true, passes: [], why: null})
  expect(await turns.granted(PARTS)).toMatchObject({go: true})
  expect(warnings).toEqual(["the head is away: the nodes' own line decides whose turn it is"])
})
