import type {GpuDevice} from '../gpu/index.ts'
import type {UsageEntry} from '../usage/index.ts'
import type {GpuUse} from './types.ts'

/** A run's GPUs are dark from so many seconds of measured time on, where they computed less than this share of it. */
const DARK_SECONDS = 600
const DARK_SHARE = 0.05
/** Share of the last second below which a leased GPU counts as doing nothing. */
const STILL_SHARE = 0.01

/**
 * GPUs that do nothing. `free`: nobody has them. `leased`: a lease has them, and no program uses it, or none computes just
 * now. `dark`: a run has reserved them and hardly computes.
 */
export interface IdleGpus {
  state: 'free' | 'leased' | 'dark'
  node: string
  /** How many. */
  gpus: number
  /** Position on the node, where it is one that the node shares. */
  index: number | null
  /** Name of the model, where it is known. */
  name: string | null
  /** Who has them. */
  owner: string | null
  /** The lease or the run. */
  holder: string | null
  /** Since when its holder has it, in seconds since 1970. */
  since: number | null
  why: string
}

/** GPUs of a rack that do nothing right now: free ones first, then leased ones, then a run's. Pure. */
export function idleGpus(use: GpuUse, entries: UsageEntry[]): IdleGpus[] {
  return [...freeOf(use), ...leasedOf(use), ...darkOf(use, entries)]
}

function freeOf({nodes, shared, reservations}: GpuUse): IdleGpus[] {
  const nobody = {state: 'free', owner: null, holder: null, since: null} as const
  const shares = new Set(shared.devices.map((device) => device.node))
  const reserved = (node: string): Set<string> =>
    new Set(reservations.filter((one) => one.at === node && one.state !== 'waiting').flatMap((one) => one.wants.gpus))
  const ofDaemons = shared.devices
    .filter((device) => device.holders.length === 0 && !reserved(device.node).has(device.id))
    .map(({node, index, name}) => ({...nobody, node, gpus: 1, index, name, why: 'shared, and nobody has a lease'}))
  const others = nodes.flatMap(({node, gpus}) => {
    const left = gpus - reserved(node).size
    return shares.has(node) || left <= 0
      ? []
      : [{...nobody, node, gpus: left, index: null, name: null, why: 'no run has reserved them'}]
  })
  return [...ofDaemons, ...others]
}

function leasedOf({shared: {devices, leases}}: GpuUse): IdleGpus[] {
  const at = new Map(devices.map((device) => [`${device.node} ${device.index}`, device]))
  return leases.flatMap((lease) =>
    lease.devices.flatMap(({index, name}): IdleGpus[] => {
      const why = stillness(lease.programs, at.get(`${lease.node} ${index}`))
      const {node, owner, created} = lease
      return why === undefined
        ? []
        : [{state: 'leased', node, gpus: 1, index, name, owner, holder: lease.lease.slice(0, 8), since: created, why}]
    }),
  )
}

function stillness(programs: number, device: GpuDevice | undefined): string | undefined {
  if (programs === 0) return 'no program uses the lease'
  return device && device.utilisation < STILL_SHARE ? 'nothing was computed in the last second' : undefined
}

function darkOf({reservations}: GpuUse, entries: UsageEntry[]): IdleGpus[] {
  return entries.flatMap((entry): IdleGpus[] => {
    const {run, node, gpus, gpuSeen, gpuBusy, open, user, started} = entry
    if (!open || node === null || gpus === 0 || gpuSeen === null || gpuSeen < DARK_SECONDS * gpus) return []
    const share = (gpuBusy ?? 0) / gpuSeen
    const owner = reservations.find((one) => one.lease === run)?.owner ?? user
    const why = `busy ${(share * 100).toFixed(1)} % of the ${Math.round(gpuSeen / gpus / 60)} min of its attempt`
    return share >= DARK_SHARE
      ? []
      : [{state: 'dark', node, gpus, index: null, name: null, owner, holder: run, since: started, why}]
  })
}
