import type {ServerResponse} from 'node:http'

/** A name that no network has (RFC 2606): nodes ask it through their proxy who has a file. */
export const TRACKER_HOST = 'share.flexrack.invalid'

/** A node that downloads through this machine, and may have what others need. */
export interface Peer {
  readonly id: string
  /** Where the others reach it; undefined: they do not. */
  at?: {address: string; port: number; secret: string}
  isLost: boolean
}

interface File {
  holders: Set<Peer>
  /** Who gets it from the index now. */
  fetching?: Peer
}

/**
 * Knows which node has which file, by its hash, while several nodes build environments at once: a file comes through
 * this machine once.
 */
export class Tracker {
  readonly #files = new Map<string, File>()
  readonly #peers = new Set<Peer>()
  #number = 0
  #changed = Promise.withResolvers<void>()

  join(): Peer {
    const peer: Peer = {id: `${++this.#number}`, isLost: false}
    this.#peers.add(peer)
    return peer
  }

  /** It needs nothing more. Resolves when nobody does: until then it may be asked for what it has. */
  async leave(peer: Peer): Promise<void> {
    this.#peers.delete(peer)
    this.#wake()
    while (this.#peers.size > 0 && !peer.isLost) await this.#changed.promise
    this.lose(peer)
  }

  /** It has gone: nobody waits for it. */
  lose(peer: Peer): void {
    peer.isLost = true
    this.#peers.delete(peer)
    for (const [hash, file] of this.#files) {
      file.holders.delete(peer)
      if (file.fetching === peer) delete file.fetching
      if (file.holders.size === 0 && !file.fetching) this.#files.delete(hash)
    }
    this.#wake()
  }

  /**
   * Who has it; null: `peer` gets it from the index itself. Waits while another node does so. `not`: those that did not
   * give it.
   */
  async want(peer: Peer, hash: string, not: readonly string[]): Promise<Peer | null> {
    for (;;) {
      const file = this.#files.get(hash) ?? {holders: new Set()}
      this.#files.set(hash, file)
      const usable = [...file.holders].filter((one) => one !== peer && one.at && !one.isLost && !not.includes(one.id))
      if (usable.length > 0) {
        return usable[Number(peer.id) % usable.length] as Peer
      }
      const other = file.fetching
      if (peer.isLost || !other || other === peer || !other.at || not.includes(other.id)) {
        file.fetching = peer
        return null
      }
      await this.#changed.promise
    }
  }

  have(peer: Peer, hash: string): void {
    const file = this.#files.get(hash)
    if (!file || peer.isLost) return
    file.holders.add(peer)
    if (file.fetching === peer) delete file.fetching
    this.#wake()
  }

  failed(peer: Peer, hash: string): void {
    const file = this.#files.get(hash)
    if (file?.fetching === peer) delete file.fetching
    this.#wake()
  }

  #wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

/** Of this process: its commands and steps build side by side. */
export const TRACKER = new Tracker()

/** `want/HASH?ID,ID`, `have/HASH` and `failed/HASH` of a node. */
export async function answerTracker(peer: Peer, {pathname, search}: URL, response: ServerResponse): Promise<void> {
  const [, what, hash = ''] = /^\/(want|have|failed)\/([0-9a-f]{64})$/.exec(pathname) ?? []
  if (what === 'have') TRACKER.have(peer, hash)
  if (what === 'failed') TRACKER.failed(peer, hash)
  const found = what === 'want' ? await TRACKER.want(peer, hash, search.slice(1).split(',')) : null
  const body = JSON.stringify({peer: found?.at ? {id: found.id, ...found.at} : null})
  response
    .writeHead(what ? 200 : 404, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body)
}
