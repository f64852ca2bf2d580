import {expect, test} from 'vitest'
import {endProcesses} from '../../../src/lib/local/processes.ts'

test('nothing to end is proven by one look', async () => {
  let looks = 0
  const result = await endProcesses(async () => {
    looks += 1
    return []
  }, 1000)
  expect(result).toEqual({ended: 0, survived: []})
  expect(looks).toBe(1)
})

test('a process that is gone at the second look counts as ended', async () => {
  // A pid that cannot exist: the signal goes nowhere.
  const looks = [[{pid: 2 ** 30, node: 'node-1', command: 'x'}], []]
  expect(await endProcesses(async () => looks.shift() ?? [], 1000)).toEqual({ended: 1, survived: []})
})
