import type {Connection} from './connection.ts'
import {runScript} from './exec.ts'
import {whenEnded} from './process.ts'
import {bootLine} from './bootstrap.ts'
import {quote} from './quote.ts'
import type {RemoteTerminal, TerminalOptions} from './types.ts'

/**
 * See NodeShell.terminal. A pty cannot carry a script of any length unseen (it echoes, and cuts lines at 4096 bytes),
 * so the script goes ahead into a file that only the user can read and that the terminal's shell removes before it
 * begins.
 */
export async function openTerminal(
  connection: Connection,
  script: string,
  options: TerminalOptions,
): Promise<RemoteTerminal> {
  const file = (
    await runScript(
      connection,
      'umask 077 && f=$(mktemp "${TMPDIR:-/tmp}/flexrack.XXXXXXXX") && cat >"$f" && printf %s "$f"',
      {input: bootLine(script, options.env)},
    )
  ).trim()
  const boot = `exec sh -c 'IFS= read -r flexrack_s <"$0"; rm -f "$0"; eval "unset flexrack_s; $(printf %b "$flexrack_s")"' ${quote([file])}`
  const pty = {term: options.term, rows: options.rows, cols: options.columns, width: 0, height: 0}
  const channel = await connection.openSession(boot, {pty}).catch(async (error: unknown) => {
    await runScript(connection, `rm -f ${quote([file])}`).catch(() => {})
    throw error
  })
  channel.on('error', () => {})
  const exit = whenEnded(connection, channel)
  exit.catch(() => {})
  return {
    stream: channel,
    resize: (rows, columns) => channel.setWindow(rows, columns, 0, 0),
    exit,
  }
}
