// Buckets: what rclone copies to nodes before a run and from them after. Generated from protocol/bucket.json by `npm run protocol`.
import type {BuildProgressEvent, WaitingEvent} from './environment.ts'
import type {ToolPlaced, ToolWheel} from './image.ts'
import type {RunInput} from './order.ts'
import type {UploadDone} from './result.ts'
import type {RunName} from './watch.ts'

export interface RcloneWanted {
  version: string
}

export interface RcloneFound {
  program: string | null
  /** The platform whose rclone is to be sent. */
  machine: string | null
}

export interface BringOrder {
  run: string
  inputs: RunInput[]
  /** Sections of rclone.conf. Secret. */
  remotes: string
}

export interface InputBrought {
  name: string
  from: string
  files: number
  bytes: number
  /** Bytes that had to come. */
  brought: number
}

export interface UploadAgain {
  run: string
  /** Sections of rclone.conf. Secret. */
  remotes: string
}

export interface Settled {
  changed: boolean
}

export interface BucketVerbs {
  /** Whether rclone is on the node. */
  'bucket.inspect': {input: RcloneWanted; result: RcloneFound; event: never}
  /** Takes a wheel of rclone as the body, and unpacks its program. */
  'bucket.tool': {input: ToolWheel; result: ToolPlaced; event: never}
  /** Copies the inputs of a run to its folder, and compares them. */
  'bucket.bring': {input: BringOrder; result: InputBrought[]; event: BuildProgressEvent | WaitingEvent}
  /** Copies what the uploads of a run name from the node, and compares it. */
  'bucket.upload': {input: UploadAgain; result: UploadDone[]; event: BuildProgressEvent | WaitingEvent}
  /** All nodes have uploaded: a run that failed for that alone has finished. */
  'bucket.settle': {input: RunName; result: Settled; event: never}
  /** Removes the inputs of a run that was never started. */
  'bucket.forget': {input: RunName; result: Settled; event: never}
}
