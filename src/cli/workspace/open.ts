import {spawn} from 'node:child_process'
import {constants} from 'node:os'
import {CliError, type Context} from '../../lib/base/index.ts'
import type {Editor, SshHost} from '../../lib/ssh-host/index.ts'
import {divertSignals} from '../base/context.ts'
import type {ProjectSession} from '../base/session.ts'
import {suspendProgress} from '../progress/reporter.ts'
import {planHosts, tell} from './ssh-config.ts'
import {needTerminal} from './terminal.ts'

export interface OpenedAnswer {
  host: string
  node: string
  folder: string
  /** What opens it: an address, or for ssh the command. */
  address: string
  opened: boolean
}

/**
 * What `workspace open` does. Errors: those of `workspace ssh-config`; NOT_FOUND where the editor has no command here.
 */
export async function openWith(
  how: Editor | 'ssh',
  flags: {print: boolean; on?: string | undefined},
  session: ProjectSession,
  context: Context,
  answer: <T>(value: T, text: (value: T) => string) => T,
): Promise<OpenedAnswer | undefined> {
  if (how === 'ssh' && !flags.print) needTerminal('flexrack workspace open ssh --print')
  const [{editorAddress, editorWords, writeSshConfig}, {selectNodes}] = await Promise.all([
    import('../../lib/ssh-host/index.ts'),
    import('../../lib/rack/index.ts'),
  ])
  const {input, planned} = await planHosts({on: flags.on}, session, context)
  tell(planned, context)
  const {hosts} = await writeSshConfig(planned, input.workspaces, context)
  if (planned.line)
    context.reporter.warn(`~/.ssh/config is read-only: put this line at its top yourself: ${planned.line}`)
  const {alias, node} = chosen(
    hosts,
    flags.on === undefined ? undefined : selectNodes(session.rack, flags.on, []).map((one) => one.name),
  )
  const folder = input.workspaces.find((one) => one.host.node === node)?.workspace.code
  if (folder === undefined)
    throw new CliError('NODE_UNREACHABLE', `${node}, which ${alias} stands for, does not answer`, {
      hint: 'flexrack workspace open --on NODE',
      details: {node},
    })
  const words = how === 'ssh' ? ['ssh', alias] : editorWords(how, alias, folder)
  const address = how === 'ssh' ? words.join(' ') : editorAddress(how, alias, folder)
  if (!flags.print) process.exitCode = await runHere(words, address, context)
  return how === 'ssh' && !flags.print
    ? undefined
    : answer({host: alias, node, folder, address, opened: !flags.print}, (value) => value.address)
}

function chosen(hosts: SshHost[], nodes: string[] | undefined): SshHost {
  const named =
    nodes === undefined
      ? hosts.find((one) => one.first)
      : (hosts.find((one) => !one.first && nodes.includes(one.node)) ?? hosts.find((one) => nodes.includes(one.node)))
  if (named && (nodes?.length ?? 1) === 1) return named
  throw new CliError(
    named ? 'USAGE' : 'NOT_FOUND',
    named ? '--on means several nodes, but this opens one' : 'no node that is meant has the workspace',
    {hint: named ? `--on ${named.node}` : 'flexrack workspace up --on NODE'},
  )
}

/** A program of this machine, with this terminal. */
async function runHere([program = '', ...args]: string[], address: string, context: Context): Promise<number> {
  return suspendProgress(
    () =>
      new Promise<number>((resolve, reject) => {
        const child = spawn(program, args, {stdio: program === 'ssh' ? 'inherit' : ['ignore', 'inherit', 'inherit']})
        const release = divertSignals(context, (signal) => child.kill(signal))
        child.once('error', (error: NodeJS.ErrnoException) => {
          release()
          reject(
            error.code === 'ENOENT'
              ? new CliError('NOT_FOUND', `there is no command ${program} on this machine`, {
                  hint: `open this address instead: ${address}`,
                  details: {program, address},
                })
              : error,
          )
        })
        child.once('close', (status, signal) => {
          release()
          resolve(status ?? 128 + (signal ? constants.signals[signal] : 0))
        })
      }),
  )
}
