import {expect, it} from 'vitest'
import {stoppedText} from '../../../src/cli/runs/text.ts'
import {CliError, makeContext, silentReporter} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {NodeRun} from '../../../src/lib/protocol/index.ts'
import type {Place} from '../../../src/lib/runs/find.ts'
import {stopRun, type Stopped} from '../../../src/lib/runs/stop.ts'
import type {FoundRun} from '../../../src/lib/runs/types.ts'
import {FINISHED, LEADERLESS, reported} from '../../support/reported.ts'

const SILENT = new CliError('NODE_UNREACHABLE', 'no connection')
const STOPPED = {...FINISHED, status: 'stopped' as const, exit: 143}

/**
 * `answers`: how the run is afterwards on its nodes, from node-1 on; or why a node does not say so. `looked`: as it was
 * found.
 */
async function stop(
  answers: (Partial<NodeRun> | Error)[],
  looked?: Partial<FoundRun>,
  left: number[] = [],
): Promise<{stopped: Stopped; warnings: string[]}> {
  const warnings: string[] = []
  const hosts = new Map(
    answers.map((answer, index) => [
      `node-${index + 1}`,
      {
        call: async () => {
          if (answer instanceof Error) throw answer
          return {status: answer.status, left, state: reported(index + 1, answer as object, answers.length)}
        },
      } as unknown as Host,
    ]),
  )
  // Hosts that are open serve on after the second Ctrl-C, without a connection being made.
  const context = makeContext({
    kill: AbortSignal.abort(),
    reporter: {...silentReporter, warn: (message) => void warnings.push(message)},
  })
  const run = {run: 'digits-1', nodes: answers.map((_, index) => reported(index + 1, {}, answers.length)), ...looked}
  return {stopped: await stopRun({hosts} as unknown as Place, run, {}, context), warnings}
}

it('what was stopped is proven, and nobody is warned', async () => {
  const {stopped, warnings} = await stop([STOPPED, STOPPED, STOPPED])
  expect([stopped, warnings]).toEqual([
    {run: 'digits-1', status: 'stopped', left: {'node-1': [], 'node-2': [], 'node-3': []}, unreached: []},
    [],
  ])
  // the leader still records it
  expect((await stop([{...STOPPED, live: true}, STOPPED, {status: 'running'}])).stopped.status).toBe('stopped')
  expect(stoppedText(stopped)).toBe('Run digits-1 stopped: no process of it is left on node-1, node-2, node-3.')
})

it('a node that cannot be reached is named with the command that asks it later, and how the run ended is told as far as the others know', async () => {
  const {stopped, warnings} = await stop([SILENT, LEADERLESS])
  expect(stopped).toEqual({run: 'digits-1', status: 'unknown', left: {'node-2': []}, unreached: ['node-1']})
  expect(warnings).toEqual([
    'node-1 could not be reached; whether anything of run digits-1 is left there is told, once it answers, by: flexrack runs stop digits-1',
  ])
  expect(stoppedText(stopped)).toBe(
    'Run digits-1 has ended where it could be reached: no process of it is left on node-2; what is left on node-1 is not known.',
  )
  expect((await stop([STOPPED, SILENT])).stopped).toMatchObject({status: 'stopped', unreached: ['node-2']})
  // its supervisor waits for the leader
  expect((await stop([SILENT, {status: 'running'}])).stopped).toMatchObject({status: 'stopping', unreached: ['node-1']})
})

it('a node that did not even answer when the run was looked for is none of those where nothing is left', async () => {
  const {stopped, warnings} = await stop([STOPPED, STOPPED], {
    nodes: [reported(1, {}, 3), reported(2, {}, 3)],
    absent: [],
  })
  expect([stopped.unreached, warnings[0]]).toEqual([['node-3'], expect.stringMatching(/^node-3 could not be reached/)])
  expect(
    (await stop([STOPPED, STOPPED], {nodes: [reported(1, {}, 3), reported(2, {}, 3)], absent: ['node-3']})).stopped
      .unreached,
  ).toEqual([])
})

it('is an error where nothing can be reached, where a node refuses, and where a process is left', async () => {
  const message = 'run digits-1 is not proven to have ended on '
  await expect(stop([SILENT, SILENT])).rejects.toThrow(
    expect.objectContaining({code: 'NODE_UNREACHABLE', message: `${message}node-1, node-2`}),
  )
  await expect(stop([SILENT, STOPPED, new CliError('NODE_UNFIT', 'no Python')])).rejects.toThrow(
    expect.objectContaining({code: 'SOME_NODES_FAILED', message: `${message}node-1, node-3`}),
  )
  await expect(stop([STOPPED, SILENT], {}, [4711])).rejects.toThrow(
    expect.objectContaining({code: 'REMOTE_FAILED', message: `${message}node-1, node-2`}),
  )
})
