// Volumes of the rack file: folders of nodes that runs may have. Generated from protocol/volume.json by `npm run protocol`.
import type {BoundVolume} from './image.ts'

export interface VolumeQuestion {
  volumes: BoundVolume[]
  /** Writes a file where it is to be written to, and removes it. */
  try_write?: boolean
}

/** Of this account there. */
export interface VolumeQuota {
  /** Bytes. */
  used: number
  /** Bytes. */
  limit: number
}

export interface VolumeSeen {
  name: string
  path: string
  /** Why it cannot be used as asked. */
  trouble: string | null
  hint: string | null
  /** Of the file system, as /proc/self/mountinfo has it. */
  type: string
  /** What is mounted. */
  source: string
  /** Where. */
  mount: string
  /** Bytes that this account may have. */
  free: number
  total: number
  quota: VolumeQuota | null
  writable: boolean
  /** The same on all machines that see the same folder: its number and when it changed last. */
  identity: string
}

export interface VolumeMark {
  path: string
  nonce: string
  step: 'write' | 'read' | 'remove'
}

export interface VolumeMarked {
  /** The file is there, and is that one. */
  found: boolean
}

export interface VolumeVerbs {
  /** What volumes are on the node, and what stands in the way of using them. */
  'volume.look': {input: VolumeQuestion; result: VolumeSeen[]; event: never}
  /** Writes, looks for, or removes a small file by which it is known whether nodes see the same folder. */
  'volume.mark': {input: VolumeMark; result: VolumeMarked; event: never}
}
