import {existsSync} from 'node:fs'
import {basename} from 'node:path'
import {CliError} from '../base/index.ts'
import type {PlanOf, StepOf} from '../plan/index.ts'
import {editRack, loadRack, saveRack, type Rack, type RackNetwork, type RackNode} from '../rack/index.ts'
import type {EnrollKinds} from './carry-out.ts'

/** What is the same for every host of one `rack add`. */
export interface AddOptions {
  user?: string
  port?: number
  identityFile?: string
  proxyJump?: string
  address?: string
  root?: string
  network?: RackNetwork
  /** ISO 8601. */
  until?: string
  /** KEY=VALUE. */
  labels?: string[]
}

/** Nodes from words like `gpu-1`, `me@10.0.0.1:2222`, `name=host`, `[::1]:22`. Throws USAGE; names must differ. */
export function parseHosts(words: string[], options: AddOptions): RackNode[] {
  if (options.address !== undefined && words.length > 1)
    throw new CliError('USAGE', '--address is the address of one node, but several are added', {
      hint: 'add them one by one',
    })
  const labels = parseLabels(options.labels ?? [])
  const nodes = words.map((word) => parseHost(word, options, labels))
  for (const [index, node] of nodes.entries()) {
    if (nodes.findIndex((other) => other.name === node.name) < index)
      throw new CliError('USAGE', `two hosts would both be the node "${node.name}"`, {
        hint: `name them: ${node.name}-1=HOST ${node.name}-2=HOST`,
      })
  }
  return nodes
}

/**
 * What `rack add` would do: steps for the connections (unless `probe` is false) and for the file. Throws CONFLICT for a
 * name that is taken, RACK_INVALID.
 */
export async function planAdd(
  path: string,
  nodes: RackNode[],
  options: {probe: boolean; trust: boolean},
): Promise<PlanOf<EnrollKinds>> {
  const isNew = !existsSync(path)
  await saveRack(await withNodes(path, nodes), {dryRun: true})
  const connect = nodes.map(({name, host}): StepOf<EnrollKinds> => ({
    id: `connect:${name}`,
    node: name,
    kind: 'node.connect',
    title: `Connect to ${host}${options.trust ? ' and trust a host key that is new' : ''}`,
    input: {node: name, host},
    needs: [],
  }))
  const write: StepOf<EnrollKinds> = {
    id: 'write',
    node: null,
    kind: 'rack.add',
    title: `${isNew ? 'Make' : 'Add to'} ${path}: ${nodes.map((node) => node.name).join(', ')}`,
    input: {path, nodes},
    needs: options.probe ? connect.map((step) => step.id) : [],
  }
  return {command: 'rack add', steps: [...(options.probe ? connect : []), write]}
}

/**
 * Writes the nodes into the rack file, making it if it is new. Throws CONFLICT for a name that is taken, RACK_INVALID.
 */
export async function addNodes({path, nodes}: {path: string; nodes: RackNode[]}): Promise<Rack> {
  if (existsSync(path)) return editRack(path, (rack) => extend(rack, nodes))
  const rack = await withNodes(path, nodes)
  await saveRack(rack)
  return rack
}

async function withNodes(path: string, nodes: RackNode[]): Promise<Rack> {
  if (existsSync(path)) return extend(await loadRack(path, {}), nodes)
  return {name: basename(path).replace(/\.ya?ml$/, ''), path, nodes, head: {node: nodes[0]?.name ?? ''}}
}

function extend(rack: Rack, nodes: RackNode[]): Rack {
  const taken = nodes.filter((node) => rack.nodes.some((other) => other.name === node.name)).map((node) => node.name)
  if (taken.length === 0) return {...rack, nodes: [...rack.nodes, ...nodes]}
  throw new CliError('CONFLICT', `the rack ${rack.name} already has ${taken.join(', ')}`, {
    hint: `flexrack rack remove ${rack.name} ${taken.join(' ')}`,
    details: {taken},
  })
}

const WORD =
  /^(?:(?<name>[^-=@:[\]/][^=@:[\]/]*)=)?(?:(?<user>[^-@:=][^@:=]*)@)?(?:\[(?<six>[0-9a-fA-F:.%\w]+)\]|(?<host>[^-:@=[\]][^:@=[\]]*|[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*))(?::(?<port>\d+))?$/

function parseHost(word: string, options: AddOptions, labels: Record<string, string>): RackNode {
  const parts = WORD.exec(word)?.groups
  const host = parts?.six ?? parts?.host
  const port = parts?.port === undefined ? options.port : Number(parts.port)
  if (!host || /\s/.test(word) || (port !== undefined && (port < 1 || port > 65535))) {
    throw new CliError('USAGE', `"${word}" is not a host`, {
      hint: 'write HOST, USER@HOST, HOST:PORT, [IPV6]:PORT or NAME=HOST',
    })
  }
  const name =
    parts?.name ??
    host
      .replaceAll(':', '-')
      .replace(/%.*$/, '')
      .replace(/^-+|-+$/g, '')
  const user = parts?.user ?? options.user
  return {
    name,
    host,
    ...(port !== undefined && {port}),
    ...(user !== undefined && {user}),
    ...(options.identityFile !== undefined && {identityFile: options.identityFile}),
    ...(options.proxyJump !== undefined && {proxyJump: options.proxyJump}),
    ...(options.address !== undefined && {address: options.address}),
    ...(options.network !== undefined && {network: options.network}),
    ...(options.until !== undefined && {until: options.until}),
    root: options.root ?? '~/.flexrack',
    labels,
  }
}

function parseLabels(words: string[]): Record<string, string> {
  const pairs = words.map((word) => {
    const equals = word.indexOf('=')
    if (equals < 1)
      throw new CliError('USAGE', `"${word}" is not a label`, {hint: 'write KEY=VALUE, such as --label gpu=a100'})
    return [word.slice(0, equals), word.slice(equals + 1)] as const
  })
  return Object.fromEntries(pairs)
}
