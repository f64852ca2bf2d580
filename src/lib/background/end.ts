import {hostname} from 'node:os'
import {setTimeout as pause} from 'node:timers/promises'
import {CliError, type Context} from '../base/index.ts'
import {isRunning, readRecord, type BackgroundRecord} from './record.ts'

/** How a background command was ended; null: there was none here any more. */
export type BackgroundEnd = {pid: number; how: 'by itself' | 'requested' | 'killed'} | null

const POLL_MS = 50
const KILLED_MS = 10_000

/**
 * Ends what is busy in the background, on this machine, with what has this name, and looks that it is gone: it has
 * `self` milliseconds to end by itself, then SIGTERM (what Ctrl-C does), then, after `grace`, SIGKILL. A later process
 * with its pid is never touched. Errors: LOCAL_FAILED where it does not end even so.
 */
export async function endBackground(
  name: string,
  {self = 0, grace}: {self?: number; grace: number},
  context: Pick<Context, 'env'>,
): Promise<BackgroundEnd> {
  const record = await readRecord(name, context)
  if (!record || !(await isRunning(record))) return null
  const {pid} = record
  if (await gone(record, self)) return {pid, how: 'by itself'}
  await deliver(record, 'SIGTERM')
  if (await gone(record, grace)) return {pid, how: 'requested'}
  await deliver(record, 'SIGKILL')
  if (await gone(record, KILLED_MS)) return {pid, how: 'killed'}
  throw new CliError('LOCAL_FAILED', `process ${pid} on ${hostname()} does not end`, {
    details: {pid, log: record.log},
    hint: `kill -KILL ${pid}`,
  })
}

async function deliver(record: BackgroundRecord, signal: NodeJS.Signals): Promise<void> {
  if (!(await isRunning(record))) return
  try {
    process.kill(record.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function gone(record: BackgroundRecord, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds
  while (await isRunning(record)) {
    if (performance.now() >= until) return false
    await pause(POLL_MS)
  }
  return true
}
