import {withProgress, type Context} from '../base/index.ts'
import {WHEELS, type Host} from '../host/index.ts'

/**
 * Sends rclone to a node that has none, or too old a one. Errors: REMOTE_FAILED where this machine cannot get it; those
 * of `bucket.tool`.
 */
export async function needRclone(host: Host, context: Context): Promise<void> {
  const {machine} = await host.call('bucket.inspect', {version: WHEELS.rcloneVersion()}, {signal: context.signal})
  if (machine === null) return
  const {name, sha256, bytes, version, lock} = await WHEELS.rclone(machine, context)
  await withProgress(context.reporter, [`Send rclone ${version}, which copies from and to buckets`, host.node], () =>
    host.call('bucket.tool', {version, lock, name, sha256}, {body: bytes, signal: context.signal}),
  )
}
