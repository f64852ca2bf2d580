import type {Connection} from './connection.ts'
import {execScript, runScript} from './exec.ts'
import {forwardLocal, forwardRemote} from './forward.ts'
import {startProcess} from './process.ts'
import {openTerminal} from './terminal.ts'
import type {NodeShell} from './types.ts'

/** What can be done over one connection. */
export function makeShell(connection: Connection): NodeShell {
  return {
    node: connection.node,
    closed: connection.closed,
    exec: (script, options) => execScript(connection, script, options),
    run: (script, options) => runScript(connection, script, options),
    spawn: (script, options) => startProcess(connection, script, options),
    terminal: (script, options) => openTerminal(connection, script, options),
    forwardLocal: (input) => forwardLocal(connection, input),
    forwardRemote: (input) => forwardRemote(connection, input),
  }
}
