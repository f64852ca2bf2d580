import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {
  executePlan,
  fromStep,
  throwIfFailed,
  valuesOf,
  type PlanOf,
  type StepOf,
  type StepOutcome,
} from '../plan/index.ts'
import type {PlacedWorkspace} from '../workspace/index.ts'
import {areWritten, hostSite, readHostsFile, sshFiles} from './files.ts'
import {isUser, type HostsFile} from './hosts-file.ts'
import {includeLine, withInclude, withoutInclude} from './include.ts'
import {nameHosts} from './names.ts'
import {SSH_HOST_HANDLERS, wholeKey, type HostToWrite, type SshHostKinds} from './steps.ts'
import type {HostPlace, SshHost} from './types.ts'
import {readUserConfig} from './user-config.ts'

export interface SshConfigInput {
  rack: {name: string; path: string}
  project: string
  /** Folder of the manifest, whose workspace.env counts; null: there is none here. */
  folder: string | null
  /** In the order of the rack. */
  workspaces: {host: Host; workspace: PlacedWorkspace}[]
  /** Nodes that did not answer: the hosts that stand for them stay. */
  away: string[]
  /** The words that start flexrack. */
  program: string[]
}

export interface SshConfigPlan {
  plan: PlanOf<SshHostKinds>
  /** Of this project; a key that is not made yet is missing. */
  hosts: HostToWrite[]
  /** Where ~/.ssh/config cannot be written: the line that belongs at its top. */
  line?: string
  /** Names of hosts whose key is another one than before. */
  changed: string[]
}

/**
 * What has to be written so that a project's workspaces are hosts of SSH: no steps where it is. Errors: CONFLICT where
 * the file of hosts is not ours; those of nodes.
 */
export async function planSshConfig(input: SshConfigInput, context: Context): Promise<SshConfigPlan> {
  const files = sshFiles(context)
  const [known, config] = await Promise.all([readHostsFile(files), readUserConfig(context)])
  const isOwn = (one: SshHost): boolean => one.rack === input.rack.name && one.project === input.project
  const others = known?.hosts.filter((one) => !isOwn(one)) ?? []
  const before = known?.hosts.filter(isOwn) ?? []
  const {places, keys} = await lookAt(input, before, context)
  const names = nameHosts(places, [...others, ...before])
  const hosts = places.flatMap((place) =>
    names.get(place)!.map((alias, index): HostToWrite => ({
      alias,
      ...place,
      first: place.first && index === 0,
      hostKey: keys.get(place.node) ?? fromStep(`key:${place.node}`),
    })),
  )
  const making = places
    .filter(({node}) => !keys.has(node))
    .map(({node}): StepOf<SshHostKinds> => ({
      id: `key:${node}`,
      node,
      kind: 'ssh-host.key',
      title: 'Make a host key for the workspace',
      input: {node, project: input.project},
      needs: [],
    }))
  const all = [...others, ...hosts].toSorted((one, other) => (one.alias < other.alias ? -1 : 1))
  const content = {hosts: all, madeConfig: known?.madeConfig ?? config.text === undefined}
  const isWritten =
    making.length === 0 && (await areWritten(files, content as HostsFile, hostSite(files, input.program, context)))
  const writing: StepOf<SshHostKinds>[] = isWritten
    ? []
    : [
        {
          id: 'write',
          node: null,
          kind: 'ssh-host.write',
          title: `Write ${hosts.map((one) => one.alias).join(', ')} to ${files.hosts}`,
          input: {file: files.hosts, ...content, program: input.program},
          needs: making.map((step) => step.id),
        },
      ]
  const isIncluded = config.text !== undefined && withInclude(config.text, files.hosts) === config.text
  const including: StepOf<SshHostKinds>[] =
    isIncluded || config.readOnly
      ? []
      : [
          {
            id: 'include',
            node: null,
            kind: 'ssh-host.include',
            title: `Include it at the top of ${config.file}`,
            input: {config: config.file, file: files.hosts},
            needs: writing.map((step) => step.id),
          },
        ]
  return {
    plan: {command: 'workspace ssh-config', steps: [...making, ...writing, ...including]},
    hosts,
    ...(config.readOnly && !isIncluded && {line: includeLine(files.hosts)}),
    changed: hosts
      .filter((one) =>
        before.some((old) => old.alias === one.alias && old.node === one.node && old.hostKey !== one.hostKey),
      )
      .map((one) => one.alias),
  }
}

/** Does what was planned; gives the hosts of the project. Errors: those of the steps. */
export async function writeSshConfig(
  {plan, hosts}: SshConfigPlan,
  workspaces: SshConfigInput['workspaces'],
  context: Context,
): Promise<{hosts: SshHost[]; outcomes: StepOutcome[]}> {
  const host = (node: string): Host => workspaces.find((one) => one.host.node === node)!.host
  const outcomes = await executePlan(plan, SSH_HOST_HANDLERS, {host, context}, context)
  throwIfFailed(outcomes)
  const [written] = valuesOf<SshHostKinds, 'ssh-host.write'>(outcomes, 'ssh-host.write')
  const names = new Set(hosts.map((one) => one.alias))
  return {hosts: written?.filter((one) => names.has(one.alias)) ?? (hosts as SshHost[]), outcomes}
}

/**
 * What takes all of it away again; `line`: what is left in a ~/.ssh/config that cannot be written. Errors: CONFLICT
 * where the file of hosts is not ours.
 */
export async function planSshRemoval(context: Context): Promise<{plan: PlanOf<SshHostKinds>; line?: string}> {
  const files = sshFiles(context)
  const [known, config] = await Promise.all([readHostsFile(files), readUserConfig(context)])
  const isIncluded = config.text !== undefined && withoutInclude(config.text, files.hosts) !== config.text
  const steps: StepOf<SshHostKinds>[] = []
  if (isIncluded && !config.readOnly) {
    steps.push({
      id: 'exclude',
      node: null,
      kind: 'ssh-host.exclude',
      title: `Remove the line of flexrack from ${config.file}`,
      input: {config: config.file, file: files.hosts, made: known?.madeConfig ?? false},
      needs: [],
    })
  }
  if (known)
    steps.push({
      id: 'forget',
      node: null,
      kind: 'ssh-host.forget',
      title: `Remove ${files.folder}`,
      input: {folder: files.folder},
      needs: steps.map((step) => step.id),
    })
  return {
    plan: {command: 'workspace ssh-config', steps},
    ...(isIncluded && config.readOnly && {line: includeLine(files.hosts)}),
  }
}

async function lookAt(
  {rack, project, folder, workspaces, away}: SshConfigInput,
  before: SshHost[],
  context: Context,
): Promise<{places: HostPlace[]; keys: Map<string, string>}> {
  const keys = new Map<string, string>()
  const found = await Promise.all(
    workspaces.map(async ({host}): Promise<HostPlace> => {
      const {host_key: key, user} = await host.call(
        'workspace.ssh_host',
        {project, dry_run: true},
        {signal: context.signal},
      )
      if (key !== null) keys.set(host.node, wholeKey(host.node, key))
      if (!isUser(user))
        throw new CliError('REMOTE_FAILED', `${host.node} answered with what is not a user`, {
          details: {node: host.node},
        })
      return {rack: rack.name, rackFile: rack.path, project, folder, node: host.node, first: false, user}
    }),
  )
  const kept = [...new Map(before.filter((one) => away.includes(one.node)).map((one) => [one.node, one])).values()]
  for (const one of kept) keys.set(one.node, one.hostKey)
  const places = [...found, ...kept.map(({alias: _, hostKey: __, ...place}): HostPlace => ({...place, first: false}))]
  // Whoever was meant by the short name while it is away stays it: two connections of one editor must not reach two
  // nodes.
  const short = before.find((one) => one.first && away.includes(one.node))?.node ?? places[0]?.node
  return {places: places.map((place) => ({...place, first: place.node === short})), keys}
}
