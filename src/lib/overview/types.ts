import type {EndpointSummary} from '../endpoint/index.ts'
import type {GpuDevice, GpuNodeReport, Lease} from '../gpu/index.ts'
import type {HeadStatus} from '../head/index.ts'
import type {Reservation} from '../protocol/index.ts'
import type {RunEntry} from '../runs/index.ts'

/** A node at a glance. Sizes in bytes; what could not be read is null. */
export interface NodeSummary {
  node: string
  host: string
  ok: boolean
  cores: number | null
  /** Processes that ran or wanted to, on average over the last minute. */
  load: number | null
  /** Of all processors since the boot, in clock ticks: computing, and all. Two looks tell how busy they were between. */
  ticks: {busy: number; all: number} | null
  memory: {available: number; total: number} | null
  /** Of the file system of the home folder. */
  disk: {free: number; total: number} | null
  gpus: number
  /** It does not answer, and was not to be there any more. */
  gone: boolean
  /** Why not, where not ok. */
  code?: string
  message?: string
  hint?: string
}

type OneHead = Pick<HeadStatus, 'node' | 'state' | 'url'>

/** `standby`: where the rack file names one. */
export type HeadSummary = OneHead & {standby?: OneHead}

export interface Overview {
  rack: string
  nodes: NodeSummary[]
  head: HeadSummary
  /** Newest first: all that go on, and the last ones. */
  runs: RunEntry[]
  endpoints: EndpointSummary[]
  /** GPUs that nodes share, and who has which. */
  shared: {devices: GpuDevice[]; leases: Lease[]; nodes: GpuNodeReport[]}
  /** Who has nodes or GPUs for a run, and who waits; `at`: the node that was asked. */
  reservations: (Reservation & {at: string})[]
  /** Parts that could not be asked, and why. */
  unknown: {part: 'runs' | 'endpoints' | 'reservations'; message: string}[]
}

/** Who has which GPUs, of the same. */
export type GpuUse = Pick<Overview, 'rack' | 'nodes' | 'shared' | 'reservations'>
