import {spawn} from 'node:child_process'
import {once} from 'node:events'
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

test('who has the pid of one that was found, and was started later, is left alone', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  try {
    const found = {pid: child.pid!, born: '1', node: 'node-1', command: 'sleep'}
    const looks = [[found], [found], []]
    await endProcesses(async () => looks.shift() ?? [], 0)
    expect(child.exitCode ?? child.signalCode).toBeNull()
    process.kill(child.pid!, 0)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})
