import {connect} from 'node:net'
import {isLoopback} from '../../../base/index.ts'
import {Crowd} from '../crowd.ts'

/** A target that has said nothing for so long while requests wait there is looked at. */
const SILENT_MS = 2000
const LOOK_MS = 1000
/** Targets that are known; with more, those at which nobody waits are forgotten. */
const MOST_IDLE = 1000
/** Connections in a row that nobody took: a packet or two may be lost. */
const MOST_MISSES = 2

/** Of an error: the machine of a model server is out of reach, with a request under way there. */
export const LOST = 'FLEXRACK_LOST'

interface Waiting {
  /** When its machine was last known to be there, by performance.now(). */
  sign: number
  misses: number
  isLooking: boolean
  /** Told with an error, of each request. */
  requests: Crowd<(error: Error) => void>
}

/** Whether a connection to there comes about, or is refused: both say that the machine is there. */
export type Look = (target: string) => Promise<boolean>

/**
 * Machines that go away without a word: cut off, frozen, without power. No connection breaks then, and who waits for an
 * answer would wait for minutes. A server that takes long is no such: its machine takes connections meanwhile.
 */
export class Pulse {
  readonly #targets = new Map<string, Waiting>()
  readonly #look: Look
  readonly #tellLost: (target: string) => void
  #timer: NodeJS.Timeout | undefined

  constructor(tellLost: (target: string) => void, look: Look = takesConnections) {
    this.#tellLost = tellLost
    this.#look = look
  }

  /** A request waits there; `lost` is told at most once. What it gives is called when the request has ended. */
  enter(target: string, lost: (error: Error) => void): () => void {
    const waiting = this.#targets.get(target) ?? this.#open(target)
    if (waiting.requests.size === 0) hear(waiting)
    const standing = waiting.requests.add(lost)
    this.#timer ??= setInterval(() => this.#lookAround(), LOOK_MS).unref()
    return () => void waiting.requests.delete(standing)
  }

  /** It stays: what comes and goes with each request costs more (docs/adr/0066). */
  #open(target: string): Waiting {
    if (this.#targets.size >= MOST_IDLE)
      for (const [name, {requests}] of this.#targets) if (requests.size === 0) this.#targets.delete(name)
    const made = {sign: 0, misses: 0, isLooking: false, requests: new Crowd<(error: Error) => void>()}
    this.#targets.set(target, made)
    return made
  }

  /** It has answered something. */
  heard(target: string): void {
    const waiting = this.#targets.get(target)
    if (waiting) hear(waiting)
  }

  #lookAround(): void {
    const busy = [...this.#targets].filter(([, {requests}]) => requests.size > 0)
    if (busy.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    const now = performance.now()
    for (const [target, waiting] of busy)
      if (!waiting.isLooking && now - waiting.sign >= SILENT_MS) void this.#lookAt(target, waiting)
  }

  async #lookAt(target: string, waiting: Waiting): Promise<void> {
    waiting.isLooking = true
    const asked = waiting.requests.all()
    const isThere = await this.#look(target)
    waiting.isLooking = false
    if (isThere) return hear(waiting)
    if (++waiting.misses < MOST_MISSES) return
    waiting.misses = 0
    this.#tellLost(target)
    for (const {at, member: lost} of asked)
      if (at >= 0) lost(Object.assign(new Error('its machine is out of reach'), {code: LOST}))
  }
}

function hear(waiting: Waiting): void {
  waiting.sign = performance.now()
  waiting.misses = 0
}

/**
 * This machine is there. Its servers are not asked: each look stays in the listening queue of one that computes and takes
 * no connections meanwhile, which is five long for Python's, and once it is full nothing tells it from a lost machine.
 * Those of other machines have fronts, which take connections at any time.
 */
export function takesConnections(target: string): Promise<boolean> {
  const {hostname, port, protocol} = new URL(target)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isLoopback(host)) return Promise.resolve(true)
  const socket = connect({
    host,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    timeout: SILENT_MS,
  })
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('timeout', () => resolve(false))
    socket.once('error', ({code}: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'))
  }).finally(() => socket.destroy())
}
