import {randomBytes} from 'node:crypto'
import {mkdir, open, readFile, rename, rm, stat} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {isMap, isSeq, parseDocument, type Document, type YAMLMap} from 'yaml'
import {CliError} from '../base/index.ts'
import {parseRack, readRack} from './load.ts'
import type {Rack, RackNode} from './types.ts'

const HEADER = ' A rack of flexrack: a named set of nodes. Described in docs/rack-file.md; edit it freely, comments are kept.'
const LOCK_WAIT_MS = 10_000
/** A lock that old was left by a process that died: the file is held for milliseconds. */
const LOCK_STALE_MS = 30_000

/** Writes a rack to its path: atomically, under a lock, 0600 in a 0700 folder; comments of a file that is there are kept. With dryRun it only checks. Throws RACK_INVALID, LOCKED. */
export async function saveRack(rack: Rack, options: {dryRun?: boolean} = {}): Promise<void> {
  if (options.dryRun) await contentOf(rack)
  else await withLock(rack.path, () => write(rack))
}

/** Reads a rack, changes it and writes it back, under one lock. Returns what was written. Throws as readRack, and LOCKED. */
export async function editRack(path: string, change: (rack: Rack) => Rack | Promise<Rack>): Promise<Rack> {
  return withLock(path, async () => {
    const rack = await change((await readRack(path)).rack)
    await write(rack)
    return rack
  })
}

async function contentOf(rack: Rack): Promise<string> {
  const content = renderRack(rack, await readFile(rack.path, 'utf8').catch(() => undefined))
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
export function renderRack(rack: Rack, before?: string): string {
  const document = before === undefined ? undefined : parseDocument(before)
  const usable = document && document.errors.length === 0 && isMap(document.contents) ? document : newDocument()
  const head = headFields(rack)
  const oldHead = usable.get('head')
  if (isMap(oldHead)) updateMap(usable, oldHead, head)
  else if (Object.keys(head).length > 0) usable.set('head', usable.createNode(head))
  const nodes = usable.get('nodes')
  if (!isSeq(nodes)) usable.set('nodes', usable.createNode(rack.nodes.map(nodeFields)))
  else {
    const old = new Map(nodes.items.filter(isMap).map((item) => [String(item.get('name')), item]))
    nodes.items = rack.nodes.map((node) => {
      const item = old.get(node.name)
      if (item) updateMap(usable, item, nodeFields(node))
      return item ?? usable.createNode(nodeFields(node))
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

function updateMap(document: Document, map: YAMLMap, fields: Record<string, unknown>): void {
  for (const item of [...map.items]) if (!Object.hasOwn(fields, String(item.key))) map.delete(item.key)
  const plain = map.toJS(document) as Record<string, unknown>
  for (const [key, value] of Object.entries(fields)) {
    if (JSON.stringify(plain[key]) !== JSON.stringify(value)) map.set(key, document.createNode(value))
  }
}

function headFields({head, nodes}: Rack): Record<string, unknown> {
  return defined({
    node: head.node === nodes[0]?.name ? undefined : head.node,
    bind: head.bind === '127.0.0.1' ? undefined : head.bind,
    port: head.port,
    url: head.url,
    store: head.store,
    artifacts: head.artifacts,
  })
}

function nodeFields(node: RackNode): Record<string, unknown> {
  return defined({
    name: node.name,
    host: node.host,
    port: node.port,
    user: node.user,
    identity_file: node.identityFile,
    proxy_jump: node.proxyJump,
    known_hosts: node.knownHosts,
    address: node.address,
    root: node.root === '~/.flexrack' ? undefined : node.root,
    environments: node.environments,
    labels: Object.keys(node.labels).length > 0 ? node.labels : undefined,
  })
}

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

async function withLock<T>(path: string, action: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), {recursive: true, mode: 0o700})
  const lock = join(dirname(path), `.${basename(path)}.lock`)
  const started = Date.now()
  for (;;) {
    try {
      const file = await open(lock, 'wx', 0o600)
      await file.writeFile(`${process.pid}\n`)
      await file.close()
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      await clearStaleLock(lock)
      if (Date.now() - started > LOCK_WAIT_MS) throw new CliError('LOCKED', `another flexrack is changing ${path}`, {hint: `if none is running: rm ${lock}`})
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 30))
    }
  }
  try {
    return await action()
  } finally {
    await rm(lock, {force: true})
  }
}

async function clearStaleLock(lock: string): Promise<void> {
  const found = await stat(lock).catch(() => undefined)
  if (!found) return
  const pid = Number(await readFile(lock, 'utf8').catch(() => ''))
  if (isAlive(pid) && Date.now() - found.mtimeMs < LOCK_STALE_MS) return
  // An empty lock file may be one that is being written right now.
  if (pid === 0 && Date.now() - found.mtimeMs < 1000) return
  // Renamed first: of several that find it stale, one takes it away.
  const aside = `${lock}.${process.pid}.${randomBytes(4).toString('hex')}`
  await rename(lock, aside).catch(() => undefined)
  await rm(aside, {force: true})
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
