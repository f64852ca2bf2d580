import {randomBytes} from 'node:crypto'
import {open, rename, rm} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {isMap, isScalar, isSeq, parseDocument, type Document, type YAMLMap} from 'yaml'
import {textIfThere, withFileLock} from '../base/index.ts'
import {expandHome, parseRack, readRack} from './load.ts'
import type {GpuSpec, Rack, RackNetwork, RackNode, RackSlurm} from './types.ts'

const HEADER =
  ' A rack of flexrack: a named set of nodes. Described in docs/rack-file.md; edit it freely, comments are kept.'
const LOCK_WAIT_MS = 10_000

/**
 * Writes a rack to its path: atomically, under a lock, 0600 in a 0700 folder; comments of a file that is there are
 * kept. With dryRun it only checks. Throws RACK_INVALID, LOCKED.
 */
export async function saveRack(rack: Rack, options: {dryRun?: boolean} = {}): Promise<void> {
  if (options.dryRun) await contentOf(rack)
  else await withLock(rack.path, () => write(rack))
}

/**
 * Reads a rack, changes it and writes it back, under one lock. Returns what was written. Throws as readRack, and
 * LOCKED.
 */
export async function editRack(path: string, change: (rack: Rack) => Rack | Promise<Rack>): Promise<Rack> {
  return withLock(path, async () => {
    const rack = await change((await readRack(path)).rack)
    await write(rack)
    return rack
  })
}

async function contentOf(rack: Rack): Promise<string> {
  const content = renderRack(rack, await textIfThere(rack.path))
  // What we write must be what we can read.
  await parseRack(rack.path, content)
  return content
}

async function write(rack: Rack): Promise<void> {
  const content = await contentOf(rack)
  const temporary = `${rack.path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, rack.path)
  } catch (error) {
    await rm(temporary, {force: true})
    throw error
  }
}

/** The text of a rack file; with the text that was there before, only what differs is changed. */
/** As sizeOf reads it, in the largest unit that says it exactly. */
function exactSize(bytes: number | undefined): string | undefined {
  if (bytes === undefined) return undefined
  for (const base of [1024, 1000]) {
    for (const [power, unit] of [
      [4, 'T'],
      [3, 'G'],
      [2, 'M'],
      [1, 'K'],
    ] as const)
      if (bytes % base ** power === 0) return `${bytes / base ** power}${unit}${base === 1024 ? 'i' : ''}B`
  }
  return undefined
}

export function renderRack(rack: Rack, before?: string): string {
  const document = before === undefined ? undefined : parseDocument(before)
  const usable = document && document.errors.length === 0 && isMap(document.contents) ? document : newDocument()
  const oldHead = usable.get('head')
  if (isMap(oldHead)) updateMap(usable, oldHead, headFields(rack))
  else if (Object.keys(written(headFields(rack))).length > 0)
    usable.set('head', usable.createNode(written(headFields(rack))))
  const gpu = gpuFields(rack.gpu)
  const oldGpu = usable.get('gpu')
  if (isMap(oldGpu)) updateMap(usable, oldGpu, gpu)
  else if (Object.keys(written(gpu)).length > 0) usable.set('gpu', usable.createNode(written(gpu)))
  const slurm = slurmFields(rack.slurm)
  const oldSlurm = usable.get('slurm')
  if (isMap(oldSlurm)) updateMap(usable, oldSlurm, slurm)
  else if (Object.keys(written(slurm)).length > 0) usable.set('slurm', usable.createNode(written(slurm)))
  for (const [key, value] of [
    ['network', rack.network],
    ['network_hosts', rack.networkHosts],
    ['data_limit', exactSize(rack.dataLimit)],
  ] as const) {
    if (value === undefined) usable.delete(key)
    else if (JSON.stringify((usable.toJS() as Record<string, unknown>)[key]) !== JSON.stringify(value))
      usable.set(key, usable.createNode(value))
  }
  // no command changes them: what stands there stays
  if (rack.metrics && !usable.has('metrics')) usable.set('metrics', usable.createNode(rack.metrics))
  if (rack.volumes && !usable.has('volumes')) usable.set('volumes', usable.createNode(rack.volumes))
  const nodes = usable.get('nodes')
  // Labels that nodes share are written out for each: an anchor (&a1) is nothing to edit by hand.
  if (!isSeq(nodes))
    usable.set(
      'nodes',
      usable.createNode(
        rack.nodes.map((node) => written(nodeFields(node, rack.network))),
        {aliasDuplicateObjects: false},
      ),
    )
  else {
    const old = new Map(nodes.items.filter(isMap).map((item) => [textOf(item.get('name', true)), item]))
    nodes.items = rack.nodes.map((node) => {
      const item = old.get(node.name)
      if (item) updateMap(usable, item, nodeFields(node, rack.network))
      return item ?? usable.createNode(written(nodeFields(node, rack.network)))
    })
  }
  return usable.toString({lineWidth: 0})
}

function newDocument(): Document {
  const document = parseDocument('{}\n') as unknown as Document
  document.contents = document.createNode({}) as never
  document.commentBefore = HEADER
  return document
}

/** A value to write; one that is the default is not written, but stays where somebody wrote it. */
interface Field {
  value: unknown
  isDefault?: boolean
}

function updateMap(document: Document, map: YAMLMap, fields: Record<string, Field>): void {
  for (const [key, {value, isDefault}] of Object.entries(fields)) {
    const old = map.get(key, true)
    if (value === undefined) map.delete(key)
    else if (old === undefined ? !isDefault : !isSame(old, value)) map.set(key, document.createNode(value))
  }
}

/**
 * Equal as it is read: names and labels are taken as they are written, `08` is the text 08, and ~ is the home folder.
 */
function isSame(old: unknown, value: unknown): boolean {
  if (isScalar(old)) return old.value === value || (typeof value === 'string' && expandHome(textOf(old)) === value)
  if (!isMap(old) || typeof value !== 'object' || value === null) return false
  const entries = Object.entries(value)
  return entries.length === old.items.length && entries.every(([key, one]) => isSame(old.get(key, true), one))
}

function textOf(node: unknown): string {
  if (!isScalar(node)) return ''
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
}

function headFields({head, nodes}: Rack): Record<string, Field> {
  return {
    node: {value: head.node, isDefault: head.node === nodes[0]?.name},
    standby: {value: head.standby},
    names: {value: head.names},
    bind: {value: head.bind},
    port: {value: head.port},
    url: {value: head.url},
    store: {value: head.store},
    artifacts: {value: head.artifacts},
  }
}

function gpuFields(gpu: Partial<GpuSpec> = {}): Record<string, Field> {
  return {
    bind: {value: gpu.bind?.length === 1 ? gpu.bind[0] : gpu.bind},
    port: {value: gpu.port},
    transport: {value: gpu.transport},
    trusted_fabric: {value: gpu.trustedFabric},
    grace: {value: gpu.grace},
    oversubscribe: {value: exactSize(gpu.oversubscribe)},
    env: {value: gpu.env},
  }
}

function slurmFields(slurm?: RackSlurm): Record<string, Field> {
  if (!slurm) return {}
  const {extra, ...words} = slurm
  return {
    ...Object.fromEntries(Object.entries(words).map(([key, value]) => [key, {value}])),
    extra: {value: extra, isDefault: extra.length === 0},
  }
}

function nodeFields(node: RackNode, shared?: RackNetwork): Record<string, Field> {
  return {
    name: {value: node.name},
    host: {value: node.host},
    port: {value: node.port},
    user: {value: node.user},
    identity_file: {value: node.identityFile},
    proxy_jump: {value: node.proxyJump},
    known_hosts: {value: node.knownHosts},
    address: {value: node.address},
    root: {value: node.root, isDefault: node.root === '~/.flexrack'},
    environments: {value: node.environments},
    network: {value: node.network, isDefault: node.network === (shared ?? 'direct')},
    gpu: {value: node.gpu && written(gpuFields(node.gpu))},
    until: {value: node.until},
    labels: {value: node.labels, isDefault: Object.keys(node.labels).length === 0},
  }
}

function written(fields: Record<string, Field>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, {value, isDefault}]) =>
      value === undefined || isDefault ? [] : [[key, value]],
    ),
  )
}

function withLock<T>(path: string, action: () => Promise<T>): Promise<T> {
  return withFileLock(join(dirname(path), `.${basename(path)}.lock`), {what: path, waitMs: LOCK_WAIT_MS}, action)
}
