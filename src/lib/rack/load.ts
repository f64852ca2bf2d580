import {readdir, stat} from 'node:fs/promises'
import {homedir} from 'node:os'
import {basename, join, resolve} from 'node:path'
import {CliError, userPaths} from '../base/index.ts'
import {
  nearestName,
  problemAt,
  problemsError,
  readSource,
  validateSource,
  type Path,
  type Problem,
  type Source,
} from '../document/index.ts'
import type {RackFile} from './schema.ts'
import {selectNodes} from './select.ts'
import type {GpuSpec, Rack, RackNode, RackSlurm, RackVolume} from './types.ts'

/**
 * The rack named by a flag, FLEXRACK_RACK, or the manifest's preference, in this order; else the only one there is.
 * Throws NOT_FOUND, USAGE or RACK_INVALID.
 */
export async function loadRack(
  nameOrFile: string | undefined,
  env: NodeJS.ProcessEnv,
  preferred?: string,
): Promise<Rack> {
  const wanted = nameOrFile || env.FLEXRACK_RACK || preferred
  if (wanted === 'all' || wanted?.includes(',')) throw await severalError(wanted, env)
  if (wanted) return (await readRack(await existingFile(wanted, env))).rack
  const racks = await listRacks(env)
  const [only] = racks
  if (only && racks.length === 1) return (await readRack(only.path)).rack
  if (racks.length === 0) throw new CliError('NOT_FOUND', 'there is no rack yet', {hint: 'flexrack local up'})
  throw new CliError('USAGE', `which rack? There are ${racks.map((rack) => rack.name).join(', ')}`, {
    hint: `--rack ${racks[0]?.name ?? 'NAME'}`,
    details: {racks: racks.map((rack) => rack.name)},
  })
}

async function severalError(wanted: string, env: NodeJS.ProcessEnv): Promise<CliError> {
  const racks = (await listRacks(env)).map((rack) => rack.name)
  return new CliError('USAGE', `this is about one rack, and "${wanted}" means several`, {
    hint: `--rack ${racks[0] ?? 'NAME'}`,
    details: {racks},
  })
}

/** Name and file of every rack of the user, sorted by name. The files are not read. */
export async function listRacks(env: NodeJS.ProcessEnv): Promise<{name: string; path: string}[]> {
  const folder = racksFolder(env)
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
    .map((name) => ({name: name.slice(0, -'.yaml'.length), path: join(folder, name)}))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Where the rack file of a name (or of a path) is or would be. Throws USAGE for a name that cannot be one. */
export function rackPath(nameOrFile: string, env: NodeJS.ProcessEnv): string {
  if (looksLikeFile(nameOrFile)) return resolve(expandHome(nameOrFile, env))
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(nameOrFile)) {
    throw new CliError('USAGE', `"${nameOrFile}" cannot be the name of a rack`, {
      hint: 'use letters, digits, dots, dashes and underscores',
    })
  }
  if (nameOrFile === 'all') {
    throw new CliError('USAGE', 'no rack can be called all: --rack all means every rack', {hint: 'use another name'})
  }
  return join(racksFolder(env), `${nameOrFile}.yaml`)
}

/** A valid rack and the file it came from. Throws RACK_INVALID with details.problems, NOT_FOUND. */
export async function readRack(file: string): Promise<{rack: Rack; source: Source}> {
  const source = await readSource(file, {asText: isTakenAsWritten}).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new CliError('NOT_FOUND', `there is no rack file ${file}`, {hint: 'flexrack rack list'})
    throw error
  })
  return {rack: await validateRack(source), source}
}

/** The rack that a text is, were it in the file. Throws as readRack. */
export async function parseRack(file: string, text: string): Promise<Rack> {
  return validateRack(await readSource(file, {text, asText: isTakenAsWritten}))
}

async function validateRack(source: Source): Promise<Rack> {
  const {rackSchema, NOT_YET} = await import('./schema.ts')
  const {value, problems} = validateSource(source, rackSchema, NOT_YET)
  problems.push(...checkNames(source))
  const rack = value && problems.length === 0 ? resolveRack(source.file, value) : undefined
  if (rack) problems.push(...checkVolumes(source, rack))
  if (!rack || problems.length > 0) throw problemsError('RACK_INVALID', source.file, problems)
  return rack
}

function isTakenAsWritten(path: Path): boolean {
  return (
    path.at(-2) === 'labels' ||
    (path[0] === 'nodes' && path.at(-1) === 'name') ||
    path.join('.') === 'head.node' ||
    path.join('.') === 'head.standby' ||
    path.join('.') === 'slurm.login' ||
    (path.at(-2) === 'env' && path.includes('gpu')) ||
    (path[0] === 'volumes' && path.at(-1) === 'nodes')
  )
}

async function existingFile(wanted: string, env: NodeJS.ProcessEnv): Promise<string> {
  const file = rackPath(wanted, env)
  if (await stat(file).catch(() => undefined)) return file
  const racks = (await listRacks(env)).map((rack) => rack.name)
  const nearest = nearestName(wanted, racks)
  const hint = nearest ? `--rack ${nearest}` : wanted === 'local' ? 'flexrack local up' : 'flexrack rack list'
  throw new CliError(
    'NOT_FOUND',
    looksLikeFile(wanted)
      ? `there is no rack file ${file}`
      : `there is no rack "${wanted}"${nearest ? `; did you mean "${nearest}"?` : ''}`,
    {hint, details: {racks}},
  )
}

function racksFolder(env: NodeJS.ProcessEnv): string {
  return join(userPaths(env).config, 'racks')
}

function looksLikeFile(text: string): boolean {
  return text.includes('/') || /\.ya?ml$/.test(text)
}

/** A path of this machine with ~ filled in. */
export function expandHome(path: string, env: NodeJS.ProcessEnv = process.env): string {
  return path === '~' || path.startsWith('~/') ? join(env.HOME || homedir(), path.slice(1)) : path
}

/**
 * Names are given once, and the head and the login node of Slurm are among them. Works on what is there, valid or not.
 */
function checkNames(source: Source): Problem[] {
  const value = source.value as {
    nodes?: unknown
    head?: {node?: unknown; standby?: unknown}
    slurm?: {login?: unknown}
  } | null
  if (source.broken || typeof value !== 'object' || value === null || !Array.isArray(value.nodes)) return []
  const problems: Problem[] = []
  const report = (path: Path, message: string, nearest?: string) =>
    problems.push(problemAt(source, source.span(path, 'value'), message, nearest ? {nearest} : {}))
  const names = value.nodes.map((node: {name?: unknown} | null) => node?.name)
  for (const [index, name] of names.entries()) {
    if (typeof name === 'string' && names.indexOf(name) < index)
      report(['nodes', index, 'name'], `the node name "${name}" is given twice`)
  }
  if (typeof value.head?.standby === 'string' && value.head.standby === (value.head.node ?? names[0]))
    report(['head', 'standby'], "head.standby must be another node than the head's")
  for (const [path, name] of [
    [['head', 'node'], value.head?.node],
    [['head', 'standby'], value.head?.standby],
    [['slurm', 'login'], value.slurm?.login],
  ] as const) {
    if (typeof name !== 'string' || names.includes(name)) continue
    const known = names.filter((one): one is string => typeof one === 'string')
    const nearest = nearestName(name, known)
    report(
      [...path],
      `${path.join('.')} names no node of this rack: "${name}"; ${nearest ? `did you mean "${nearest}"?` : `expected one of ${known.slice(0, 20).join(', ')}`}`,
      nearest,
    )
  }
  return problems
}

/** That their nodes are there. */
function checkVolumes(source: Source, rack: Rack): Problem[] {
  return Object.entries(rack.volumes ?? {}).flatMap(([name, {nodes}]) => {
    try {
      selectNodes(rack, nodes, [])
      return []
    } catch (error) {
      return [
        problemAt(
          source,
          source.span(['volumes', name, 'nodes'], 'value'),
          `volumes.${name}.nodes: ${(error as Error).message}`,
        ),
      ]
    }
  })
}

function resolveRack(file: string, value: RackFile): Rack {
  const {network, network_hosts: networkHosts} = value
  const shared = {...(network && {network}), ...(networkHosts && {networkHosts})}
  const nodes = value.nodes.map((one): RackNode => ({
    ...shared,
    ...resolveNode(one),
    ...(one.name === value.slurm?.login && {pooled: true}),
  }))
  const {node, ...head} = value.head
  return {
    name: basename(file).replace(/\.ya?ml$/, ''),
    path: file,
    nodes,
    head: {node: node ?? nodes[0]?.name ?? '', ...head},
    ...shared,
    ...(value.data_limit !== undefined && {dataLimit: sizeOf(value.data_limit)}),
    ...(value.metrics && {metrics: value.metrics}),
    ...(value.volumes && {volumes: value.volumes as Record<string, RackVolume>}),
    ...(value.gpu && {gpu: resolveGpu(value.gpu)}),
    ...(value.slurm && {slurm: value.slurm as RackSlurm}),
  }
}

/** Bytes of `200GiB` (powers of 1024) or `200GB` (of 1000). Pure. */
export function sizeOf(text: string): number {
  const [, number = '0', unit = 'K', binary] = /^(\d+)\s*([KMGT])(i?)B$/i.exec(text) ?? []
  return Number(number) * (binary ? 1024 : 1000) ** ('KMGT'.indexOf(unit.toUpperCase()) + 1)
}

function resolveGpu({bind, trusted_fabric, oversubscribe, ...gpu}: NonNullable<RackFile['gpu']>): Partial<GpuSpec> {
  return {
    ...gpu,
    ...(bind !== undefined && {bind: [bind].flat()}),
    ...(trusted_fabric !== undefined && {trustedFabric: trusted_fabric}),
    ...(oversubscribe !== undefined && {oversubscribe: sizeOf(oversubscribe)}),
  } as Partial<GpuSpec>
}

function resolveNode({identity_file, proxy_jump, known_hosts, gpu, ...node}: RackFile['nodes'][number]): RackNode {
  return {
    ...node,
    ...(gpu !== undefined && {gpu: resolveGpu(gpu)}),
    ...(identity_file !== undefined && {identityFile: expandHome(identity_file)}),
    ...(proxy_jump !== undefined && {proxyJump: proxy_jump}),
    ...(known_hosts !== undefined && {knownHosts: expandHome(known_hosts)}),
  }
}
