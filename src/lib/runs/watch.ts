import {setTimeout as sleep} from 'node:timers/promises'
import type {Context} from '../base/index.ts'
import type {NodeRunDetail} from '../protocol/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'
import type {Metric} from '../tracking/index.ts'
import {hostOf, type Place} from './find.ts'
import {statusOf} from './leading.ts'
import {RecentSteps} from './recent.ts'
import {recordAt, type Records} from './records.ts'
import {Silence} from './silence.ts'
import type {FoundRun} from './types.ts'
import {runView, type SeenPart, type RunView} from './view.ts'

export interface WatchOptions {
  /** Seconds between two looks at the nodes. */
  every: number
  onView(view: RunView): void
  /** Ends the watching; the run goes on. */
  signal: AbortSignal
  /** The tracking server, for the last values of the run's metrics. */
  records: Records
}

/** Asked less often than the nodes: its database is everybody's. Milliseconds. */
const METRICS_MS = 5000
/** What is known is shown then, though not every node has told anything. Milliseconds. */
const FIRST_MS = 3000
const PAUSE_MS = [500, 1000, 2000, 4000]
/** A node that there is a connection to is not silent, however seldom it is to tell something. Milliseconds. */
const ALIVE_MS = 5000
/** System metrics are told by the nodes themselves, and sooner. */
const SYSTEM = 'system/'

/**
 * Watches a run on all of its nodes, over the connections that there are, until it is over everywhere or `signal` is
 * aborted. What is known is told every so many seconds, however many nodes there are; a node that cannot be reached
 * keeps what it said last, and is given up as by followRun once the others say that the run is over.
 */
export async function watchRun(place: Place, run: FoundRun, options: WatchOptions, context: Context): Promise<RunView> {
  const over = new AbortController()
  const signal = AbortSignal.any([options.signal, over.signal])
  const state: Watched = {
    parts: new Map(),
    recent: new RecentSteps(),
    lost: new Set(),
    ends: new Map(),
    metrics: [],
    away: options.records.away ?? null,
  }
  const view = (): RunView => ({
    ...runView(run, {
      parts: [...state.parts.values()],
      lost: [...state.lost],
      metrics: state.metrics,
      away: state.away,
      now: Date.now(),
    }),
    ...endStatus(run, state),
  })
  const asking = askMetrics(run, options.records, state, signal)
  let telling: NodeJS.Timeout | undefined
  const begin = (): void => {
    if (telling || signal.aborted) return
    options.onView(view())
    telling = setInterval(() => options.onView(view()), options.every * 1000)
  }
  const first = setTimeout(begin, FIRST_MS)
  const waiting = new Set(run.nodes.map((one) => one.node))
  const onNode = (node: string): void => {
    waiting.delete(node)
    if (waiting.size === 0) begin()
  }
  const silence = new Silence(run.nodes)
  try {
    await Promise.all(
      run.nodes.map((one) =>
        watchNode(place, run.run, one.node, {...options, onNode, silence}, state, signal, context),
      ),
    )
  } finally {
    silence.close()
    clearInterval(telling)
    clearTimeout(first)
    over.abort()
    await asking
  }
  const last = view()
  options.onView(last)
  return last
}

interface Watched {
  /** What each node said last. */
  parts: Map<string, SeenPart>
  recent: RecentSteps
  lost: Set<string>
  /** Of each node on which the run is over. */
  ends: Map<string, NodeRunDetail>
  metrics: Metric[]
  away: string | null
}

/** Once it is over on all nodes that answer, it is as these know, whatever was heard before of one that does not. */
function endStatus(run: FoundRun, {ends, lost}: Watched): {status: string} | undefined {
  const isOver = ends.size > 0 && run.nodes.every(({node}) => ends.has(node) || lost.has(node))
  return isOver ? {status: statusOf({...run, nodes: [...ends.values()]}).status} : undefined
}

interface NodeWatch extends WatchOptions {
  onNode(node: string): void
  silence: Silence
}

async function watchNode(
  place: Place,
  run: string,
  node: string,
  {every, onNode, silence}: NodeWatch,
  state: Watched,
  leave: AbortSignal,
  context: Context,
): Promise<void> {
  const signal = AbortSignal.any([leave, silence.signal(node)])
  for (let tries = 0; !signal.aborted; tries++) {
    const alive = setInterval(() => state.lost.has(node) || silence.hear(node), ALIVE_MS)
    try {
      const host = await hostOf(place, node, context)
      await host.call(
        'run.watch',
        {run, every},
        {
          signal,
          onEvent: (event) => {
            tries = 0
            state.lost.delete(node)
            for (const part of event.parts) {
              const hardware = part.hardware ?? state.parts.get(part.node)?.hardware ?? null
              if (part.node === node) silence.lead(node, part)
              state.parts.set(part.node, state.recent.take({...part, hardware}, performance.now()))
            }
            onNode(node)
          },
        },
      )
      const detail = await host.call('run.state', {run}, {signal})
      state.ends.set(node, detail)
      silence.end(node, detail)
      return
    } catch (error) {
      if (signal.aborted) return
      if (!isLinkTrouble(error)) throw error
      state.lost.add(node)
      await sleep(PAUSE_MS[Math.min(tries, PAUSE_MS.length - 1)], undefined, {signal}).catch(() => {})
    } finally {
      clearInterval(alive)
    }
  }
}

async function askMetrics(run: FoundRun, records: Records, state: Watched, signal: AbortSignal): Promise<void> {
  while (records.tracking && !signal.aborted) {
    state.metrics = (await lastMetrics(run, records)) ?? state.metrics
    await sleep(METRICS_MS, undefined, {signal}).catch(() => {})
  }
}

/** Undefined where the server does not answer now: the training goes on without it, and so does who watches. */
async function lastMetrics(run: FoundRun, records: Records): Promise<Metric[] | undefined> {
  const tracked = run.nodes.find((one) => one.tracked !== null)?.tracked
  if (!records.tracking || !tracked) return undefined
  try {
    const {record} = await recordAt(records.tracking, tracked)
    return Object.values(record.metrics).filter((one) => !one.key.startsWith(SYSTEM))
  } catch {
    return undefined
  }
}
