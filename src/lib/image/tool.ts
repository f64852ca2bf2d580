import {withProgress, type Context} from '../base/index.ts'
import {WHEELS, type Host} from '../host/index.ts'

/** The version of bubblewrap that nodes get: the pin of locks/bubblewrap.txt. */
export const bubblewrapVersion = (): string => WHEELS.bubblewrapVersion()

/** Sends bubblewrap to a node that lacks it. Errors: those of bringBubblewrap. */
export async function needBubblewrap(host: Host, context: Context): Promise<void> {
  const {lacks} = await host.call('image.inspect', {layers: [], tool: bubblewrapVersion()}, {signal: context.signal})
  if (lacks !== null) await bringBubblewrap(host, lacks, context)
}

/** Sends bubblewrap to a node. Errors: REMOTE_FAILED where this machine cannot get it; those of `image.tool`. */
export async function bringBubblewrap(host: Host, machine: string, context: Context): Promise<void> {
  const {name, sha256, bytes, version, lock} = await WHEELS.bubblewrap(machine, context)
  await withProgress(context.reporter, [`Send bubblewrap ${version}, which makes sandboxes`, host.node], () =>
    host.call('image.tool', {version, lock, name, sha256}, {body: bytes, signal: context.signal}),
  )
}
