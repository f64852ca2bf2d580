import {CliError, LOCKED_PYTHON, readPythonLocks, withProgress, type Context, type Progress} from '../base/index.ts'
import {ensureEnvironment, followServiceLog, startService, type Environment, type Host} from '../host/index.ts'
import type {Handlers, Outputs} from '../plan/index.ts'
import type {BoardState} from '../protocol/index.ts'
import type {FoundRun} from '../runs/index.ts'
import {hostAt, idsOn, type BoardPlace, type NodeEvents} from './find.ts'
import type {Mirror} from './mirror.ts'

type StartInput = {
  node: string
  board: string
  runs: string[]
  rank: number | null
  /** Seconds; 0: never. */
  idle: number
}

export type BoardKinds = {
  /** TensorBoard, in an environment of its own. */
  'board.server': {input: {node: string; board: string}; output: Environment}
  'board.start': {input: StartInput; output: BoardState}
  /** Event files of another node. */
  'board.bring': {input: {from: string; to: string}; output: NodeEvents}
}

export interface BoardEnv {
  place: BoardPlace
  runs: readonly FoundRun[]
  mirror: Mirror
  context: Context
}

export const BOARD_HANDLERS: Handlers<BoardKinds, BoardEnv> = {
  'board.server': async ({node, board}, _done, {place, context}) =>
    ensureEnvironment(
      await hostAt(place, node, context),
      {requirements: readPythonLocks(['tensorboard']), python: LOCKED_PYTHON, user: `board:${board}`},
      context,
    ),
  'board.start': start,
  'board.bring': bring,
}

/** Packages that are not in memory on a busy machine take their time. */
const READY_MS = 120_000
const LOOK_MS = 200

async function start(
  {node, board, runs, rank, idle}: StartInput,
  done: Outputs<BoardKinds>,
  {place, context}: BoardEnv,
): Promise<BoardState> {
  const host = await hostAt(place, node, context)
  const {path} = done.of('board.server', {$output: 'server'})
  const {id, argv, cwd} = await host.call(
    'board.prepare',
    {id: board, runs, ...(rank !== null && {rank}), idle, server: path},
    {signal: context.signal},
  )
  await startService(host, {id, argv, cwd, grace: 5, untilReboot: true})
  return withProgress(
    context.reporter,
    ['Start TensorBoard', node],
    () => untilReady(host, board, context),
    () => 'TensorBoard answers',
  )
}

/** Errors: TIMED_OUT, REMOTE_FAILED where it has given up, with what it said last. */
async function untilReady(host: Host, board: string, context: Context): Promise<BoardState> {
  const until = Date.now() + READY_MS
  for (;;) {
    const {service, seen} = await host.call('board.look', {id: board}, {signal: context.signal})
    if (seen?.ready) return seen
    if (service.state === 'failed' || service.state === 'lost') {
      throw new CliError('REMOTE_FAILED', `TensorBoard on ${host.node} ended: ${service.exit?.text ?? service.state}`, {
        details: {node: host.node, log: await lastLines(host, service.id)},
      })
    }
    if (Date.now() > until) {
      throw new CliError('TIMED_OUT', `TensorBoard on ${host.node} did not answer in ${READY_MS / 1000} s`, {
        details: {node: host.node, log: await lastLines(host, service.id)},
      })
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    context.signal.throwIfAborted()
  }
}

export async function lastLines(host: Host, service: string): Promise<string> {
  const chunks: Buffer[] = []
  await followServiceLog(host, service, {tail: 2000, onData: (chunk) => chunks.push(chunk)}).catch(() => 0)
  return Buffer.concat(chunks).toString()
}

async function bring(
  {from, to}: {from: string; to: string},
  _done: Outputs<BoardKinds>,
  {place, runs, mirror, context}: BoardEnv,
): Promise<NodeEvents> {
  const copied = async (progress: Progress): Promise<NodeEvents> =>
    mirror.round(
      await hostAt(place, from, context),
      idsOn(runs, from),
      await hostAt(place, to, context),
      context,
      progress,
    )
  return withProgress(
    context.reporter,
    [`Copy event files to ${to}`, from],
    copied,
    ({files}) => `${files.length} event files copied to ${to}`,
  )
}
