import type {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {CliError, silentReporter, type Context} from '../../lib/base/index.ts'
import type {Manifest} from '../../lib/manifest/index.ts'
import {openSession} from '../base/session.ts'
import {exitStatus} from '../base/remote-run.ts'
import {oneNode, openWorkspace} from './nodes.ts'
import {volumesOn} from './volumes.ts'

/** Milliseconds that the far end has to end in, once nobody is at this end any more. */
const END_WITHIN_MS = 15_000

/**
 * What `workspace stdio` does: carries one SSH connection until either end is gone. stdout is the connection's; for
 * people there is stderr.
 */
export async function carrySession(
  project: string,
  flags: {rack?: string | undefined; on?: string | undefined; project?: string | undefined},
  loud: Context,
): Promise<void> {
  // ssh shows our stderr in the middle of whatever the user does: only what went wrong is worth that.
  const context = {...loud, reporter: {...silentReporter, warn: (text: string) => loud.reporter.warn(text)}}
  const {connectSession} = await import('../../lib/ssh-host/index.ts')
  const {rack, fleet} = await openSession({rack: flags.rack, project: undefined}, context)
  const {workspace: own, manifest} = await settingsOf(project, flags.project)
  const {host, workspace} = await openWorkspace(fleet, oneNode(rack, flags.on), project, context)
  const settings = {...own, ...(manifest && {volumes: await volumesOn(host, {rack, manifest}, context)})}
  const remote = await connectSession(host, workspace, settings, context)
  const stop = (): void => remote.kill('TERM')
  context.signal.addEventListener('abort', stop, {once: true})
  const far = Promise.all([passOn(remote.stdout, process.stdout), passOn(remote.stderr, process.stderr)])
  // An end of our stdin, or a broken stdout, is the client's end: sshd ends when its own stdin does.
  void pipeline(process.stdin, remote.stdin)
    .catch(() => {})
    .finally(() => setTimeout(stop, END_WITHIN_MS).unref())
  try {
    const [ending] = await Promise.all([remote.exit, far])
    process.exitCode = await exitStatus(ending)
  } finally {
    context.signal.removeEventListener('abort', stop)
    process.stdin.destroy()
  }
}

/**
 * What the manifest says from which the hosts were made. Errors: those of a manifest that is not there any more;
 * without it nobody knows whether what runs is to be in a sandbox.
 */
async function settingsOf(
  project: string,
  folder: string | undefined,
): Promise<{workspace: Pick<Manifest['workspace'], 'env' | 'isolate'>; manifest?: Manifest}> {
  if (folder === undefined) return {workspace: {env: {}}}
  const {loadManifest} = await import('../../lib/manifest/index.ts')
  const manifest = await loadManifest(folder)
  if (manifest.name === project) return {workspace: manifest.workspace, manifest}
  throw new CliError('CONFLICT', `${manifest.path} is of ${manifest.name} now, not of ${project}`, {
    hint: 'flexrack workspace ssh-config',
    details: {file: manifest.path},
  })
}

/**
 * To the end, also where nobody reads any more: what cannot be written is dropped, so that the far end does not wait
 * for room.
 */
async function passOn(from: Readable, to: NodeJS.WriteStream): Promise<void> {
  to.on('error', () => from.resume())
  await new Promise<void>((resolve, reject) => {
    from.once('end', resolve).once('error', reject)
    from.pipe(to, {end: false})
  })
}
