import type {Api} from '../protocol/index.ts'
/** A GPU of the rack as its node's daemon tells of it. Sizes in bytes. */
export interface GpuDevice {
  node: string
  /** Position on its node. */
  index: number
  /** What the daemon calls it; of CUDA its uuid. */
  id: string
  name: string
  vendor: string
  /** The release of CUDA that the driver offers, as 13.0; of OpenCL CL_DRIVER_VERSION. */
  driver: string
  api: Api
  /** CUDA's compute capability, `9.0`; null for OpenCL. */
  capability: string | null
  memory: number
  computeUnits: number
  /** What no lease has: bytes of memory, and a share (0..1) of its time. */
  free: {memory: number; compute: number}
  /** Leases that take turns: bytes granted, that one more may be granted, on the device, in the host's memory. */
  oversubscribed: {
    limit: number
    granted: number
    free: number
    physical: number
    swapped: number
    /** One of them does not come to its turn in time: no more of them for now. */
    isThrashing: boolean
  } | null
  /** Somebody has all of it. */
  whole: boolean
  /** Bytes that programs have allocated now. */
  used: number
  /** Share of the last second in which it computed, 0..1. */
  utilisation: number
  holders: Holder[]
}

/** Who has a share of a device. */
export interface Holder {
  lease: string
  owner: string
  purpose: string
  memory: number
  compute: number
  whole: boolean
  /** Seconds of the longest kernel or graph of the last minute; null where none was timed alone, as on a whole GPU. */
  longestLaunch: number | null
  /** Absent: it keeps its memory. */
  turns?: Turns
}

/** How a lease that takes turns is. */
export interface Turns {
  /** Bytes on the device now. */
  physical: number
  /** Bytes in the host's memory. */
  swapped: number
  /** How often it had to leave the device. */
  count: number
  /** thrashes: it does not come to its turn in time, or its turns are too short for what they cost. */
  standing: 'in' | 'out' | 'waits' | 'thrashes'
}

/** A right to use devices of one node. */
export interface Lease {
  node: string
  /** 32 hex digits. */
  lease: string
  /** granted: not taken up yet; lost: its holder does not answer, and has `endsIn` seconds to come back. */
  state: 'granted' | 'held' | 'lost'
  owner: string
  purpose: string
  /** Seconds since 1970. */
  created: number
  /** Seconds until it ends by itself, where it does. */
  endsIn: number | null
  /** Address of who holds it. */
  holder: string | null
  devices: {
    index: number
    id: string
    name: string
    memory: number
    compute: number
    whole: boolean
    cap: boolean
    used: number
    /** As a holder has it. */
    longestLaunch: number | null
    turns?: Turns
  }[]
  /** Programs that use it now. */
  programs: number
}

/** The daemon of one node. */
export interface GpuNode {
  node: string
  /** stopped: it should run and does not. */
  state: 'running' | 'stopped' | 'absent'
  version: string | null
  /** cuda, opencl, or sim: a GPU in software. */
  backend: string | null
  address: string | null
  port: number | null
  /** What was refused since it started, by reason. */
  refused: Record<string, number>
  devices: GpuDevice[]
  leases: Lease[]
}

/** What is asked for. Neither memory nor fraction: whole devices. */
export interface GpuRequest {
  count: number
  /** Absent: CUDA where the nodes share such devices, else OpenCL. Never some of each. */
  api?: Api
  /** Bytes on each device. */
  memory?: number
  /** Of each device's memory and time, above 0 and up to 1. */
  fraction?: number
  /** Never more of the time than the share, although nobody else wants it. */
  cap: boolean
  /** Beyond the memory that a device has: it takes turns there with others that do. */
  oversubscribe?: boolean
  /** `count` is 1, and two nodes give a GPU each that are alike: both carry out the same (docs/adr/0080). */
  mirror?: Mirror
}

/** What follows where two servers that carry out the same differ: the program gets no more, or goes on with the first. */
export interface Mirror {
  onMismatch: 'stop' | 'primary'
}

/** Devices of one node that a lease is to have. */
export interface Choice {
  node: string
  devices: {id: string; index: number; name: string; memory: number}[]
}
