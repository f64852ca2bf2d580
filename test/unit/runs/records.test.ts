import {expect, test} from 'vitest'
import {CliError, type ErrorCode} from '../../../src/lib/base/index.ts'
import type {Tracking} from '../../../src/lib/head/index.ts'
import {recordAt, searchRecords, type Records} from '../../../src/lib/runs/records.ts'
import type {Mlflow, TrackedRun} from '../../../src/lib/tracking/index.ts'

/** A workspace with these runs, by their start; or one that refuses. */
function workspace(runs: Record<string, number> | ErrorCode): Mlflow {
  const found = (id: string): TrackedRun => ({id, tags: {'flexrack.run': id}, startTime: (runs as never)[id]}) as never
  const open = <T>(value: () => T): Promise<T> =>
    typeof runs === 'string' ? Promise.reject(new CliError(runs, `it says ${runs}`)) : Promise.resolve(value())
  return {
    searchExperiments: () => open(() => [{id: '1', name: 'x', stage: 'active'}]),
    findExperiment: () => open(() => ({id: '1', name: 'x', stage: 'active'})),
    searchRuns: () => open(() => Object.keys(runs).map(found)),
    getRun: (id: string) =>
      open(() => id).then((one) => {
        if (!Object.hasOwn(runs as object, one)) throw new CliError('NOT_FOUND', `no ${one}`)
        return found(one)
      }),
  } as unknown as Mlflow
}

function recordsOf(own: Mlflow, ...others: Mlflow[]): Records {
  return {tracking: {mlflow: own, elsewhere: () => Promise.resolve(others)} as Tracking, away: undefined}
}

const ids = (runs: readonly TrackedRun[]): string[] => runs.map((one) => one.id)

test('runs of all workspaces are one list, each once, the newest first, without those that are closed to who asks', async () => {
  const records = recordsOf(workspace({a: 1, b: 5}), workspace('REFUSED'), workspace({c: 3, b: 5}))
  expect(ids(await searchRecords(records, undefined, 10))).toEqual(['b', 'c', 'a'])
  expect(ids(await searchRecords(records, undefined, 2))).toEqual(['b', 'c'])
  expect(ids(await searchRecords(records, 'x', 10)), 'of a project its own').toEqual(['a', 'b'])
  expect(records.away).toBeUndefined()
})

test('where the own workspace is closed the others are told; where all are, why', async () => {
  expect(ids(await searchRecords(recordsOf(workspace('REFUSED'), workspace({c: 3})), undefined, 10))).toEqual(['c'])
  const closed = recordsOf(workspace('REFUSED'), workspace('REFUSED'))
  expect(await searchRecords(closed, undefined, 10)).toEqual([])
  expect(closed.away).toBe('it says REFUSED')
  const gone = recordsOf(workspace({a: 1}), workspace('NODE_UNREACHABLE'))
  expect(await searchRecords(gone, undefined, 10), 'half of them would look like all').toEqual([])
  expect(gone.away).toBe('it says NODE_UNREACHABLE')
})

test('a record is found in the workspace that has it', async () => {
  const other = workspace({c: 3})
  const {tracking} = recordsOf(workspace({a: 1}), workspace('REFUSED'), other)
  expect(await recordAt(tracking!, 'c')).toMatchObject({record: {id: 'c'}, mlflow: other})
  await expect(recordAt(tracking!, 'z')).rejects.toMatchObject({code: 'NOT_FOUND'})
  await expect(recordAt(recordsOf(workspace('HEAD_FAILED'), other).tracking!, 'c')).rejects.toMatchObject({
    code: 'HEAD_FAILED',
  })
})
