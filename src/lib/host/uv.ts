import {Readable} from 'node:stream'
import {userPaths, type Context} from '../base/index.ts'
import type {UvOrder} from '../protocol/index.ts'
import {obtainWheel, pinOf, type Tool, type Wheel} from './tool-wheel.ts'
import type {Host} from './types.ts'

/** An older one on a node is passed over: its options and what it says may differ. */
const OLDEST = '0.9.0'
const PIECE_BYTES = 262_144
const UV: Tool = {name: 'uv', package: 'uv', platform: 'musllinux_1_1'}

let order: UvOrder | undefined

/** Which uv builds environments: the pin of locks/uv.txt. */
export function uvOrder(): UvOrder {
  order ??= {...pinOf(UV), oldest: OLDEST}
  return order
}

const wheels = new Map<string, Promise<Wheel>>()

/**
 * Sends uv to a node. It comes from the package index of this machine, once, and is kept in the user's cache. `shared`:
 * the node's proxy where nodes give each other what they download: then uv, too, comes through this machine once.
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
    const placed = await host
      .call('uv.place', {version, lock, name, sha256, proxy: shared}, {signal: context.signal})
      .then(
        () => true,
        (error: unknown) => {
          if (context.signal.aborted) throw error
          return false // sent as ever
        },
      )
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
export function obtainUv(machine: string, context: Context): Promise<Wheel> {
  return obtainWheel(UV, machine, context)
}
