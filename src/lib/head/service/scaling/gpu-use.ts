import type {ServerGpuUse} from '../../../protocol/index.ts'

/** What an agent said counts for three of its questions. */
const VALID_MS = 30_000
/** Of one node. */
const MOST_LEASES = 1024
const SERVICE = /^endpoint-(.+)-r\d+-\d+$/

/** A GPU of which servers of an endpoint have leases. Sizes in bytes, over those servers. */
export interface EndpointGpu {
  endpoint: string
  node: string
  index: number
  /** Part of a second in which the GPU computed, for whomever, 0..1. */
  busy: number
  used: number
  memory: number
}

/**
 * How much endpoints use GPUs, as nodes' agents tell. What is not told any more is forgotten: there are as many figures
 * as leases that are held.
 */
export class GpuUse {
  readonly #told = new Map<string, {at: number; leases: ServerGpuUse[]}>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** All that an agent has to tell of its node. */
  heard(node: string, leases: ServerGpuUse[]): void {
    if (leases.length === 0) this.#told.delete(node)
    else this.#told.set(node, {at: this.#now(), leases})
  }

  /** Of endpoints that there are; one entry an endpoint and GPU. */
  of(endpoints: readonly string[]): EndpointGpu[] {
    const found = new Map<string, EndpointGpu>()
    for (const [node, {at, leases}] of this.#told) {
      if (this.#now() - at > VALID_MS) this.#told.delete(node)
      else
        for (const {service, index, busy, used, memory} of leases) {
          const endpoint = SERVICE.exec(service)?.[1] ?? ''
          if (!endpoints.includes(endpoint)) continue
          const key = `${endpoint} ${node} ${index}`
          const before = found.get(key) ?? {endpoint, node, index, busy, used: 0, memory: 0}
          found.set(key, {...before, used: before.used + used, memory: before.memory + memory})
        }
    }
    return [...found.values()]
  }
}

/** Nothing of a foreign shape comes further. */
export function readGpuUse(given: unknown): ServerGpuUse[] {
  return Array.isArray(given) ? given.slice(0, MOST_LEASES).filter(isUse) : []
}

function isUse(given: unknown): given is ServerGpuUse {
  if (typeof given !== 'object' || given === null) return false
  const {service, index, busy, used, memory} = given as Record<string, unknown>
  const isCount = (one: unknown): boolean => Number.isSafeInteger(one) && Number(one) >= 0
  return typeof service === 'string' && [index, used, memory].every(isCount) && typeof busy === 'number' && busy >= 0
}
