import {CliError, type Context} from '../../lib/base/index.ts'
import type {NodeShell} from '../../lib/ssh/index.ts'
import {suspendProgress} from '../progress/reporter.ts'
import type {RemoteCommand} from '../base/remote-run.ts'

/** Throws NEEDS_TERMINAL where there is none to hand over. */
export function needTerminal(hint: string): void {
  if (process.stdin.isTTY && process.stdout.isTTY) return
  throw new CliError('NEEDS_TERMINAL', 'this opens a terminal on a node, but there is no terminal here', {hint})
}

/**
 * Hands this terminal over to a command on a node until it ends: every key goes there, Ctrl-C too, and so does a new
 * size.
 */
export async function runInTerminal(
  shell: NodeShell,
  command: RemoteCommand,
  context: Context,
): Promise<{status: number | null; signal: string | null}> {
  return suspendProgress(async () => {
    const {stdin, stdout} = process
    const remote = await shell.terminal(command.script, {
      term: process.env.TERM ?? 'xterm',
      rows: stdout.rows,
      columns: stdout.columns,
      env: command.env,
    })
    const resize = (): void => remote.resize(stdout.rows, stdout.columns)
    const end = (): void => void remote.stream.end()
    stdout.on('resize', resize)
    context.signal.addEventListener('abort', end, {once: true}) // SIGTERM to us: Ctrl-C is only a key here
    stdin.setRawMode(true)
    try {
      const shown = new Promise<void>((resolve) =>
        remote.stream
          .once('end', resolve)
          .once('close', resolve)
          .once('error', () => resolve()),
      )
      remote.stream.pipe(stdout, {end: false})
      stdin.pipe(remote.stream)
      const [ending] = await Promise.all([remote.exit, shown])
      return ending
    } finally {
      stdin.unpipe(remote.stream)
      stdin.setRawMode(false)
      stdin.destroy()
      stdout.off('resize', resize)
      context.signal.removeEventListener('abort', end)
    }
  })
}
