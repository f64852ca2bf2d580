import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {DataContent, DataSource} from '../protocol/index.ts'

/** Nodes that get a version from one node at the same time. */
const AT_ONCE = 2

interface Holder {
  host: Host
  busy: number
}

/**
 * Who has a version, and who gets it from this machine, while several nodes need it: it leaves here once, and goes from
 * node to node.
 */
export class Spread {
  readonly #holders: Holder[] = []
  readonly #unreachable = new Set<string>()
  #seeding: string | undefined
  #changed = Promise.withResolvers<void>()

  /** It has all of it. */
  has(host: Host): void {
    if (!this.#holders.some((one) => one.host.node === host.node)) this.#holders.push({host, busy: 0})
    this.#end(host.node)
  }

  /** Others get nothing from it. */
  isOut({node}: Host): void {
    this.#unreachable.add(node)
    this.#wake()
  }

  /** The node did not get it. */
  failed({node}: Host): void {
    this.#end(node)
  }

  /**
   * From whom `host` gets it; null: from this machine. Waits while another node gets it from here, or all that have it
   * are giving.
   */
  async want(host: Host, context: Context): Promise<{from: Host; done(): void} | null> {
    for (;;) {
      const usable = this.#holders.filter(({host: one}) => one.node !== host.node && !this.#unreachable.has(one.node))
      const [free] = usable.filter(({busy}) => busy < AT_ONCE).sort((a, b) => a.busy - b.busy)
      if (free) {
        free.busy++
        return {
          from: free.host,
          done: () => {
            free.busy--
            this.#wake()
          },
        }
      }
      if (usable.length === 0 && (this.#seeding === undefined || this.#unreachable.has(this.#seeding))) {
        this.#seeding = host.node
        return null
      }
      if (context.signal.aborted) return null
      await this.#changed.promise
    }
  }

  #end(node: string): void {
    if (this.#seeding === node) this.#seeding = undefined
    this.#wake()
  }

  #wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

/**
 * Lets `from` give contents of a version to one other node, for as long as `take` needs. Errors: those of data.give.
 */
export async function given<T>(
  from: Host,
  digest: string,
  contents: DataContent[],
  {signal}: Pick<Context, 'signal'>,
  take: (source: DataSource) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const abort = (): void => stop.abort()
  signal.addEventListener('abort', abort, {once: true})
  const opened = Promise.withResolvers<DataSource>()
  const giving = from
    .call(
      'data.give',
      {digest, contents, ...(from.address !== undefined && {address: from.address})},
      {
        signal: stop.signal,
        onEvent: ({address, port, secret}) => opened.resolve({address, port, secret}),
      },
    )
    .then(
      () => {},
      (error: unknown) => opened.reject(error as Error),
    )
  try {
    return await take(await opened.promise)
  } finally {
    signal.removeEventListener('abort', abort)
    stop.abort()
    await giving
  }
}
