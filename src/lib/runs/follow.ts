import {setTimeout as sleep} from 'node:timers/promises'
import {CliError, current, isCliError, type Context} from '../base/index.ts'
import type {ChunkEvent, NewsEvent, NodeRunDetail, RunEvent, RunEventName, Verbs} from '../protocol/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'
import {hostOf, type Place} from './find.ts'
import {endOf} from './leading.ts'
import {LineReader, type LineOptions, type RankLine} from './lines.ts'
import {Silence} from './silence.ts'
import type {FoundRun} from './types.ts'

export interface FollowOptions extends LineOptions {
  /** Go on until the run is over; else show what is there. */
  follow: boolean
  rank?: number | undefined
  /** Only these nodes. */
  nodes?: string[] | undefined
  /** Only the newest attempt that there is at the beginning, and later ones. */
  newest?: boolean
  /** Lines in the order they came; of one rank always in order. */
  onLines(lines: RankLine[]): void
  /** Something happened on a node, a line of its events.jsonl (protocol/runfiles.json). */
  onNews?(news: RunNews): void
  /** Ends the following; the run goes on. */
  signal?: AbortSignal
  /** Aborted where a node is to be given up at once; who says so has told the user. */
  given?: ReadonlyMap<string, AbortSignal>
  /** Milliseconds without a connection to a node after which it is given up; undefined: never. */
  patience?: number
}

export interface RunNews {
  node: string
  /** Seconds since 1970, by the node's clock. */
  at: number
  /** `slurm`: what Slurm's queue says has changed. */
  event: RunEventName | 'slurm'
  message?: string
  [field: string]: unknown
}

/** A run that was followed to its end, or read. */
export interface Followed {
  /** Of every node that was not given up. */
  details: Map<string, NodeRunDetail>
  /** How the run ended: what its newest leader says. Errors: those of endOf. */
  end(): NodeRunDetail
}

/** Shown no later than this after they came. Milliseconds. */
const FLUSH_MS = 50
/** After a connection was made, until what was waiting on the node has come. */
const SETTLE_MS = 2000
const PAUSE_MS = [250, 500, 1000, 2000, 4000]

/**
 * Follows the ranks' logs on all nodes of a run, by byte offset a file: a lost connection is made again and nothing is
 * lost or repeated. Resolves with every node's detail once the run is over there (or read, without `follow`). A node
 * that has gone silent for good is missing, once the others say that the run is over: its newest leader, or without it
 * all who speak. Errors: INTERRUPTED, NODE_UNREACHABLE (after `patience`).
 */
export async function followRun(
  place: Place,
  run: FoundRun,
  options: FollowOptions,
  context: Context,
): Promise<Followed> {
  const nodes = run.nodes.filter(
    (one) => options.nodes === undefined || one.slurm !== undefined || options.nodes.includes(one.node),
  )
  const merged = new Merge(options)
  const timer = setInterval(() => merged.tick(), FLUSH_MS)
  const silence = new Silence(nodes)
  try {
    const newest = options.newest ? Math.max(1, ...run.nodes.map((one) => one.attempt)) : 1
    const answers = await Promise.all(
      nodes.map((one) => followNode(place, run, one.node, newest, {merged, silence}, options, context)),
    )
    const details = new Map(answers.flatMap((detail) => (detail ? [[detail.node, detail]] : [])))
    return {details, end: () => endOf({...run, nodes: [...details.values()]})}
  } finally {
    clearInterval(timer)
    silence.close()
    merged.end()
  }
}

/** Undefined where the node is given up. */
async function followNode(
  place: Place,
  {run, unheard = []}: FoundRun,
  node: string,
  newest: number,
  {merged, silence}: {merged: Merge; silence: Silence},
  options: FollowOptions,
  context: Context,
): Promise<NodeRunDetail | undefined> {
  const reader = merged.openNode(node, newest)
  const [silent, given] = [silence.signal(node), options.given?.get(node)]
  const gone = given ? AbortSignal.any([silent, given]) : silent
  const signal = options.signal ? AbortSignal.any([options.signal, gone]) : gone
  let tries = 0
  let lostAt: number | undefined
  for (;;) {
    try {
      const host = await unlessAborted(hostOf(place, node, context), signal)
      reader.connected(performance.now())
      if (lostAt !== undefined) context.reporter.note(`${node} is connected again`)
      lostAt = undefined
      const input = {run, follow: options.follow, offsets: reader.offsets(), news: reader.news}
      const detail = await host.call('run.follow', input, {
        signal,
        onEvent: (event) => {
          tries = 0
          silence.hear(node)
          if (event.event === 'state') silence.lead(node, event)
          reader.take(event)
        },
      })
      silence.end(node, detail)
      return detail
    } catch (error) {
      reader.connected(undefined)
      if (options.signal?.aborted) throw new CliError('INTERRUPTED', 'following was interrupted', {cause: error})
      if (gone.aborted) {
        if (!given?.aborted)
          context.reporter.warn(
            `${node} does not answer, and the run is over; whether anything of it is left there is told, once it answers, by: flexrack runs stop ${run}`,
          )
        return undefined
      }
      if (unheard.includes(node) && isCliError(error, 'NOT_FOUND')) {
        context.reporter.warn(`${node} has not got its start: the run goes on without it`)
        return undefined
      }
      if (!isLinkTrouble(error)) throw error
      if (lostAt === undefined)
        context.reporter.warn(
          `the connection to ${node} was lost; the run goes on there, and its log is followed again once there is a connection`,
        )
      lostAt ??= Date.now()
      if (options.patience !== undefined && Date.now() - lostAt > options.patience) throw error
      await sleep(PAUSE_MS[Math.min(tries++, PAUSE_MS.length - 1)], undefined, {signal}).catch(() => {})
    }
  }
}

/** A connection in the making cannot be broken off; it is only waited for no longer. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {})
  let give: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    give = () => reject(new CliError('INTERRUPTED', 'waiting for a connection was broken off'))
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, {once: true})
  })
  return Promise.race([work, aborted]).finally(() => give && signal.removeEventListener('abort', give))
}

/** The lines of all files together, handed on in portions. */
class Merge {
  readonly #options: FollowOptions
  readonly #nodes: NodeReader[] = []
  #waiting: RankLine[] = []

  constructor(options: FollowOptions) {
    this.#options = options
  }

  openNode(node: string, newest: number): NodeReader {
    const reader = new NodeReader(node, this.#options, newest, (lines) => this.#waiting.push(...lines))
    this.#nodes.push(reader)
    return reader
  }

  tick(): void {
    const now = performance.now()
    for (const node of this.#nodes) node.tick(now)
    this.#flush()
  }

  end(): void {
    for (const node of this.#nodes) node.end()
    this.#flush()
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const lines = this.#waiting
    this.#waiting = []
    this.#options.onLines(lines)
  }
}

/** What was read of one node's files, over all connections. */
class NodeReader {
  news = 0
  readonly #node: string
  readonly #options: FollowOptions
  readonly #newest: number
  readonly #show: (lines: RankLine[]) => void
  #connectedSince: number | undefined
  readonly #offsets = new Map<string, number>()
  readonly #readers = new Map<string, LineReader>()

  constructor(node: string, options: FollowOptions, newest: number, show: (lines: RankLine[]) => void) {
    this.#node = node
    this.#options = options
    this.#newest = newest
    this.#show = show
  }

  /** Since when there is a connection; undefined: there is none. */
  connected(since: number | undefined): void {
    this.#connectedSince = since
  }

  /** Without a connection, silence means nothing: the rest of an unfinished line may be waiting on the node. */
  tick(now: number): void {
    if (this.#connectedSince === undefined || now - this.#connectedSince < SETTLE_MS) return
    for (const reader of this.#readers.values()) this.#show(reader.tick(now))
  }

  end(): void {
    for (const reader of this.#readers.values()) this.#show(reader.end())
  }

  /** Byte offsets to go on from, by `<attempt>/<file>`. */
  offsets(): Record<string, number> {
    return Object.fromEntries(this.#offsets)
  }

  take(event: Verbs['run.follow']['event']): void {
    if (event.event === 'queue')
      this.#options.onNews?.({...event, node: this.#node, at: Date.now() / 1000, event: 'slurm'})
    else if (event.event === 'chunk') this.#takeChunk(event)
    else if (event.event === 'news') this.#takeNews(event)
  }

  #takeChunk(chunk: ChunkEvent): void {
    const key = `${chunk.attempt}/${chunk.file}`
    const known = this.#offsets.get(key) ?? 0
    if (chunk.offset !== known) throw new Error(`${this.#node}: ${key} continues at ${chunk.offset}, not at ${known}`)
    const data = Buffer.from(chunk.data, 'base64')
    this.#offsets.set(key, known + data.length)
    if (chunk.node !== undefined && this.#options.nodes && !this.#options.nodes.includes(chunk.node)) return
    const rank = /^rank-(\d+)\.log$/.exec(chunk.file)?.[1]
    if (
      rank === undefined ||
      (this.#options.rank !== undefined && Number(rank) !== this.#options.rank) ||
      chunk.attempt < this.#newest
    )
      return
    let reader = this.#readers.get(key)
    if (!reader) {
      reader = new LineReader(
        {node: chunk.node ?? this.#node, rank: Number(rank), attempt: chunk.attempt},
        0,
        this.#options,
      )
      this.#readers.set(key, reader)
    }
    this.#show(reader.take(data, performance.now()))
  }

  #takeNews({offset, lines}: NewsEvent): void {
    this.news = offset + Buffer.byteLength(lines)
    for (const line of lines.split('\n')) {
      if (line !== '')
        this.#options.onNews?.({
          node: this.#node,
          ...current<RunEvent>('run.event', JSON.parse(line), `${this.#node}: events.jsonl`),
        })
    }
  }
}
