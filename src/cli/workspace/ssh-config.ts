import {CliError, count, type Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {selectNodes} from '../../lib/rack/index.ts'
import type {SshConfigInput, SshConfigPlan, SshHost} from '../../lib/ssh-host/index.ts'
import type {PlacedWorkspace} from '../../lib/workspace/index.ts'
import type {Session} from '../base/session.ts'
import {planText, table} from '../terminal/render.ts'
import {openHosts, throwIfNodesFailed} from './hosts.ts'
import {projectName} from './nodes.ts'

type Answer = <T>(value: T, text: (value: T) => string) => T

export interface SshHostsAnswer {
  hosts: {host: string; node: string; folder: string | null; key: string}[]
  /** Where ~/.ssh/config could not be written: the line that belongs at its top. */
  line: string | null
  /** Something was written. */
  changed: boolean
}

/**
 * What `workspace ssh-config` does. Errors: NOT_FOUND where no node has the workspace, CONFLICT, and those of nodes.
 */
export async function writeSshHosts(
  flags: {named: string | undefined; on: string | undefined; dryRun: boolean},
  session: Session,
  context: Context,
  answer: Answer,
): Promise<Plan | SshHostsAnswer> {
  const found = await planHosts(flags, session, context)
  tell(found.planned, context)
  if (flags.dryRun) return answer(found.planned.plan, planText)
  const {hosts} = await (
    await import('../../lib/ssh-host/index.ts')
  ).writeSshConfig(found.planned, found.input.workspaces, context)
  return answer(
    {
      hosts: hosts.map((host) => shown(host, found.input)),
      line: found.planned.line ?? null,
      changed: found.planned.plan.steps.length > 0,
    },
    hostsText,
  )
}

/** What `workspace ssh-config --remove` does. */
export async function removeSshHosts(
  dryRun: boolean,
  context: Context,
  answer: Answer,
): Promise<Plan | {removed: string[]; line: string | null}> {
  const [{planSshRemoval, SSH_HOST_HANDLERS}, {executePlan, throwIfFailed}] = await Promise.all([
    import('../../lib/ssh-host/index.ts'),
    import('../../lib/plan/index.ts'),
  ])
  const {plan, line} = await planSshRemoval(context)
  if (dryRun) return answer(plan, planText)
  throwIfFailed(await executePlan(plan, SSH_HOST_HANDLERS, {host: noNode, context}, context))
  return answer({removed: plan.steps.map((step) => step.title), line: line ?? null}, ({removed, line: left}) =>
    [
      ...(removed.length === 0 ? ['There was nothing to remove.'] : removed),
      ...(left === null ? [] : [`~/.ssh/config is read-only: remove this line there yourself:\n${left}`]),
    ].join('\n'),
  )
}

/** Where the workspaces are, and what has to be written for them. */
export async function planHosts(
  flags: {named?: string | undefined; on?: string | undefined},
  {rack, fleet, manifest}: Session,
  context: Context,
): Promise<{input: SshConfigInput; planned: SshConfigPlan}> {
  const [{findWorkspaces}, {planSshConfig}] = await Promise.all([
    import('../../lib/workspace/index.ts'),
    import('../../lib/ssh-host/index.ts'),
  ])
  const project = projectName(flags.named, manifest)
  // All nodes, whichever is asked for: the names of the others must not change.
  const nodes = flags.on === undefined ? rack.nodes : [...new Set([...selectNodes(rack, flags.on, []), ...rack.nodes])]
  const {hosts, failed} = await openHosts(fleet, nodes, context)
  const looked = await Promise.all(
    hosts.map(async (host) => ({host, workspace: (await findWorkspaces(host, project, context))[0]})),
  )
  const workspaces = rack.nodes.flatMap(({name}) =>
    looked.filter(
      (one): one is {host: Host; workspace: PlacedWorkspace} => one.host.node === name && one.workspace !== undefined,
    ),
  )
  if (flags.on !== undefined)
    await throwIfNodesFailed(
      nodes,
      new Map([...failed].filter(([name]) => selectNodes(rack, flags.on, []).some((node) => node.name === name))),
    )
  if (workspaces.length === 0) {
    await throwIfNodesFailed(nodes, failed)
    throw new CliError('NOT_FOUND', `no node has a workspace ${project}`, {hint: 'flexrack workspace up'})
  }
  for (const [node, error] of failed) context.reporter.warn(`${node} was not asked: ${error.message}`)
  const folder = manifest?.name === project ? manifest.folder : null
  const input = {
    rack: {name: rack.name, path: rack.path},
    project,
    folder,
    workspaces,
    away: [...failed.keys()],
    program: programWords(),
  }
  return {input, planned: await planSshConfig(input, context)}
}

/** Tells what people should know before anything is written. */
export function tell({changed}: SshConfigPlan, context: Context): void {
  if (changed.length > 0)
    context.reporter.warn(
      `${changed.join(', ')}: the host key is another one than before, as after the workspace was removed and made again; the new one came through the verified connection to the node`,
    )
}

function shown({alias, node, hostKey}: SshHost, {workspaces}: SshConfigInput): SshHostsAnswer['hosts'][number] {
  return {
    host: alias,
    node,
    folder: workspaces.find((one) => one.host.node === node)?.workspace.code ?? null,
    key: hostKey,
  }
}

function hostsText({hosts, line, changed}: SshHostsAnswer): string {
  const rows = hosts.map(({host, node, folder}) => ({host, node, folder: folder ?? undefined}))
  const said =
    line === null
      ? `${count(hosts.length, 'host')} ${changed ? 'written' : 'there already'}. Try: ssh ${hosts[0]?.host}`
      : `~/.ssh/config is read-only: put this line at its top yourself:\n${line}`
  return `${table(rows, ['host', 'node', 'folder'])}\n\n${said}`
}

/** The words that start this program again, from anywhere. */
function programWords(): string[] {
  return [process.execPath, ...process.execArgv, process.argv[1] ?? '']
}

function noNode(): never {
  throw new Error('nothing of this happens on a node')
}
