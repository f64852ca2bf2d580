import {createHash} from 'node:crypto'
import {mkdtemp, readdir, readFile, rename, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {Readable} from 'node:stream'
import {CliError, ensurePrivateFolder, readPythonLocks, userPaths, type Context} from '../base/index.ts'
import {bundleFolder} from '../downloads/index.ts'
import type {UvOrder} from '../protocol/index.ts'
import {runFetcher} from './wheels.ts'
import type {Host} from './types.ts'

/** An older one on a node is passed over: its options and what it says may differ. */
const OLDEST = '0.9.0'
const PIECE_BYTES = 262_144

let order: UvOrder | undefined

/** Which uv builds environments: the pin of locks/uv.txt. */
export function uvOrder(): UvOrder {
  const lock = readPythonLocks(['uv'])
  order ??= {version: /^uv==([\d.]+)/.exec(lock)?.[1] ?? '', oldest: OLDEST, lock}
  return order
}

const wheels = new Map<string, Promise<Wheel>>()

export interface Wheel {
  name: string
  sha256: string
  bytes: Buffer
}

/**
 * Sends uv to a node. It comes from the package index of this machine, once, and is kept in the user's cache. `shared`: the node's proxy where nodes give each
 * other what they download: then uv, too, comes through this machine once.
 * Errors: REMOTE_FAILED where this machine cannot get it; those of `uv.place`.
 */
export async function bringUv(host: Host, machine: string, context: Context, shared?: string): Promise<void> {
  const key = `${machine} ${userPaths(context.env).cache}`
  const coming = wheels.get(key) ?? obtainUv(machine, context)
  wheels.set(key, coming)
  coming.catch(() => context.signal.aborted && wheels.delete(key))
  const {name, sha256, bytes} = await coming
  const {version, lock} = uvOrder()
  const progress = context.reporter.begin(`Send uv ${version}, which builds environments`, host.node)
  if (shared !== undefined) {
    const placed = await host.call('uv.place', {version, lock, name, sha256, proxy: shared}, {signal: context.signal}).then(() => true, (error: unknown) => {
      if (context.signal.aborted) throw error
      return false // sent as ever
    })
    if (placed) return progress.done()
  }
  const body = Readable.from(pieces(bytes, (sent) => progress.amount(sent, bytes.length, 'bytes')))
  try {
    await host.call('uv.place', {version, lock, name, sha256}, {body, signal: context.signal})
  } catch (error) {
    progress.fail()
    throw error
  }
  progress.done()
}

async function* pieces(bytes: Buffer, tell: (sent: number) => void): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES)
    tell(Math.min(at + PIECE_BYTES, bytes.length))
  }
}

/** From the cache or a bundle if it is what the lock says, else from the package index. */
export async function obtainUv(machine: string, context: Context): Promise<Wheel> {
  const {version, lock} = uvOrder()
  const folder = join(userPaths(context.env).cache, 'uv')
  const name = `uv-${version}-${machine}.whl`
  const known = (await readWheel(join(folder, name), name, lock)) ?? (await readWheel(join(bundleFolder(context.env), 'uv', name), name, lock))
  if (known) return known
  await ensurePrivateFolder(folder)
  const progress = context.reporter.begin(`Fetch uv ${version} from the package index`)
  const draft = await mkdtemp(join(folder, '.part-'))
  try {
    await fetchInto(draft, machine, lock, context)
    const found = (await readdir(draft)).find((one) => one.endsWith('.whl')) ?? name
    const wheel = await readWheel(join(draft, found), name, lock)
    if (!wheel) throw new CliError('REMOTE_FAILED', `the package index of this machine gave another uv ${version} than flexrack's lock says`)
    await rename(join(draft, found), join(folder, name))
    progress.done()
    return wheel
  } catch (error) {
    progress.fail()
    throw error
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

async function readWheel(file: string, name: string, lock: string): Promise<Wheel | undefined> {
  const bytes = await readFile(file).catch(() => undefined)
  if (!bytes) return undefined
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return lock.includes(`--hash=sha256:${sha256}`) ? {name, sha256, bytes} : undefined
}

/** By this machine's pip, which knows its index, proxy and certificates. */
async function fetchInto(folder: string, machine: string, lock: string, context: Context): Promise<void> {
  await runFetcher('fetch_uv.py', [folder, machine], lock, {...context, env: {...context.env, PIP_RETRIES: context.env.PIP_RETRIES ?? '1'}})
}
