import type {Server, Socket} from 'node:net'
import {originOf} from './origin.ts'

/** The most connections without a token, of all origins. */
const MOST_PENDING = 512

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>

/**
 * Connections to a listener that have not shown a valid token. Anybody who reaches the port may have some; a new one
 * takes the place of the oldest of the origin that has the most, so that pending connections take each other's places
 * and nobody else's. Who has shown a token stays, as long as the connection does.
 */
export class PendingConnections {
  readonly #most: number
  /** By origin, and there by both ends, the oldest first. */
  readonly #waiting = new Map<string, Map<string, Socket>>()
  #count = 0

  constructor(most = MOST_PENDING) {
    this.#most = most
  }

  /** Looks at every connection that comes to a server, before TLS. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#enter(socket))
  }

  get count(): number {
    return this.#count
  }

  /**
   * A request on this connection has shown a token. With TLS its socket is another one, of the same address and port.
   */
  know(socket: Ends): void {
    this.#leave(originOf(socket.remoteAddress ?? ''), keyOf(socket))
  }

  #enter(socket: Socket): void {
    const origin = originOf(socket.remoteAddress ?? '')
    const key = keyOf(socket)
    if (this.#count >= this.#most) this.#cutOldest()
    const crowd = this.#waiting.get(origin) ?? new Map<string, Socket>()
    if (!crowd.has(key)) this.#count++
    this.#waiting.set(origin, crowd.set(key, socket))
    socket.once('close', () => this.#leave(origin, key, socket))
  }

  #leave(origin: string, key: string, only?: Socket): void {
    const crowd = this.#waiting.get(origin)
    const socket = crowd?.get(key)
    if (!crowd || !socket || (only && socket !== only)) return
    crowd.delete(key)
    if (crowd.size === 0) this.#waiting.delete(origin)
    this.#count--
  }

  #cutOldest(): void {
    let largest: [string, Map<string, Socket>] | undefined
    for (const one of this.#waiting) if (!largest || one[1].size > largest[1].size) largest = one
    const oldest = largest?.[1].entries().next().value
    if (!largest || !oldest) return
    this.#leave(largest[0], oldest[0])
    oldest[1].destroy()
  }
}

/** Two servers may have connections of the same port there. */
function keyOf({remoteAddress, remotePort, localAddress, localPort}: Ends): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
