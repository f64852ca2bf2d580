import {StopRequest, type Context, type StopReason} from '../../lib/base/index.ts'
import {onPipeClosed} from '../terminal/pipe.ts'
import {openReporter} from '../progress/reporter.ts'

/**
 * The context of a command: progress on stderr, and Ctrl-C. The first SIGINT, SIGTERM or SIGHUP aborts `signal` (stop
 * gracefully), the second aborts `kill`, the third ends the process with 130. A closed stdout counts as the first, and
 * ends the process with 0 if the command has not ended by itself after ten seconds. The abort's reason is a
 * StopRequest, which tells which it was. `background`: there is no terminal to go, so SIGHUP means nothing, and every
 * line says when it was written.
 */
export function openContext({json, background = false}: {json: boolean; background?: boolean}): Context {
  const graceful = new AbortController()
  const kill = new AbortController()
  const reporter = openReporter({json, stamped: background})
  const context: Context = {reporter, signal: graceful.signal, kill: kill.signal, env: process.env}
  let last: NodeJS.Signals = 'SIGINT'
  const stop = (by: StopReason): void => {
    const diverted = diversions.get(context)
    if (diverted) return diverted(last)
    if (!graceful.signal.aborted) {
      graceful.abort(new StopRequest(by))
      if (process.stderr.isTTY) reporter.note('stopping; press Ctrl-C again to stop at once')
    } else if (kill.signal.aborted) process.exit(130)
    else kill.abort(new DOMException('killed', 'AbortError'))
  }
  const heard = once(stop, Number(process.env.FLEXRACK_LAUNCHER) === process.ppid)
  const on = (signal: NodeJS.Signals, by: StopReason) =>
    process.on(signal, () => {
      last = signal
      heard(by)
    })
  on('SIGINT', 'user')
  on('SIGTERM', 'user')
  if (background) process.on('SIGHUP', () => {})
  else on('SIGHUP', 'terminal')
  onPipeClosed(() => {
    if (graceful.signal.aborted) return
    graceful.abort(new StopRequest('reader'))
    setTimeout(() => process.exit(0), 10_000).unref()
  })
  return context
}

const diversions = new Map<Context, (signal: NodeJS.Signals) => void>()

/**
 * While a command of the user's runs in this terminal, signals are its business: they go to `to`, and nothing of ours
 * stops. Ends with the returned function.
 */
export function divertSignals(context: Context, to: (signal: NodeJS.Signals) => void): () => void {
  diversions.set(context, to)
  return () => diversions.delete(context)
}

const closers = new Map<Context, (() => Promise<void>)[]>()

/**
 * Has `close` called when the command ends, however it ends; the last one registered is called first. The returned
 * function calls it earlier.
 */
export function atClose(context: Context, close: () => Promise<void>): () => Promise<void> {
  closers.set(context, [close, ...(closers.get(context) ?? [])])
  return () => {
    closers.set(
      context,
      (closers.get(context) ?? []).filter((one) => one !== close),
    )
    return close()
  }
}

/** Calls what atClose registered. Errors in closing are dropped: the command's own result or error is what counts. */
export async function closeContext(context: Context): Promise<void> {
  const all = closers.get(context) ?? []
  closers.delete(context)
  for (const close of all) await close().catch(() => {})
}

/** The same for whatever is open when the process has to end in the middle; gives it five seconds. */
export async function closeEverything(): Promise<void> {
  const late = new Promise<void>((done) => void setTimeout(done, 5000).unref())
  await Promise.race([late, Promise.all([...closers.keys()].map(closeContext))])
}

/** Milliseconds within which the same signal again is an echo of the first: people cannot press twice so fast. */
const TOGETHER = 60
/**
 * The same where bin/run.js, on an old Node, passes on what the terminal delivers too; a busy machine takes its time.
 */
const ECHO = 3000

/** One Ctrl-C is one stop. `echoed`: every signal may come twice, and only its first echo is passed over. */
export function once<Reason>(
  stop: (reason: Reason) => void,
  echoed: boolean,
  clock: () => number = () => performance.now(),
): (reason: Reason) => void {
  let [last, echoes] = [-Infinity, 0]
  return (reason) => {
    const since = clock() - last
    if (since <= TOGETHER || (echoes > 0 && since <= ECHO)) {
      echoes--
      return
    }
    last = clock()
    echoes = echoed ? 1 : 0
    stop(reason)
  }
}
