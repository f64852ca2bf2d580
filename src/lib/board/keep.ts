import {setTimeout as pause} from 'node:timers/promises'
import {CliError, isCliError, type Context} from '../base/index.ts'
import {executePlan, throwIfFailed, type PlanOf} from '../plan/index.ts'
import type {DamagedFile} from '../protocol/index.ts'
import {keepForwards, type ForwardEvent} from '../workspace/index.ts'
import {hostAt, idsOn, type BoardPlace} from './find.ts'
import {Mirror} from './mirror.ts'
import type {BoardWish} from './plan.ts'
import {BOARD_HANDLERS, lastLines, type BoardKinds} from './steps.ts'

/** Where a browser of this machine finds a board. */
export interface BoardLink {
  url: string
  port: number
  node: string
  runs: string[]
}

export type BoardEvent =
  | ForwardEvent
  /** All there was has been read. */
  | {event: 'loaded'; files: number; bytes: number}
  /** It is shown without what is damaged. */
  | ({event: 'damaged'} & DamagedFile)
  /** Something is not shown, and why. */
  | {event: 'missing'; node: string; reason: string}
  /** Nobody has looked for as long as was said. */
  | {event: 'ended'; why: 'idle'}

export interface BoardWay {
  place: BoardPlace
  /** On this machine; undefined: one that is free. */
  port: number | undefined
  onLink: (link: BoardLink) => void
  onEvent: (event: BoardEvent) => void
}

const LOOK_MS = 5000

/**
 * Does what the plan says, and keeps the board reachable on a port of 127.0.0.1, with what is added to event files
 * meanwhile, until it ends itself or ctx.signal is aborted. Then nothing of it is left; where the node cannot be
 * reached any more, it ends itself. Errors: those of the steps and of keepForwards.
 */
export async function showBoard(
  plan: PlanOf<BoardKinds>,
  wish: BoardWish,
  {place, port, onLink, onEvent}: BoardWay,
  context: Context,
): Promise<void> {
  const node = plan.steps.find(({kind}) => kind === 'board.start')?.node as string
  const sources = plan.steps.flatMap((step) =>
    step.kind === 'board.bring' ? [(step.input as BoardKinds['board.bring']['input']).from] : [],
  )
  const mirror = new Mirror(wish.id, wish.rank, wish.limit)
  const over = new AbortController()
  const own: Context = {...context, signal: AbortSignal.any([context.signal, over.signal])}
  try {
    throwIfFailed(await executePlan(plan, BOARD_HANDLERS, {place, runs: wish.runs, mirror, context}, context))
    const {socket, token} = await (
      await hostAt(place, node, context)
    ).call('board.access', {id: wish.id}, {signal: context.signal})
    const watching = watch({wish, node, sources, mirror, place, onEvent}, own).finally(() => over.abort())
    try {
      await keepForwards(
        () => place.fleet.shell(node),
        [{...(port !== undefined && {localPort: port}), remoteSocket: socket}],
        (event) => {
          if (event.event === 'open')
            onLink({
              url: `http://127.0.0.1:${event.localPort}/${wish.id}/?token=${token}`,
              port: event.localPort,
              node,
              runs: wish.runs.map(({run}) => run),
            })
          else onEvent(event)
        },
        own,
      )
    } finally {
      over.abort()
      await watching
    }
  } finally {
    await remove(place, node, wish.id, context)
  }
}

async function remove(place: BoardPlace, node: string, id: string, context: Context): Promise<void> {
  try {
    await (
      await hostAt(place, node, {...context, signal: context.kill})
    ).call('board.remove', {id}, {signal: context.kill})
  } catch (error) {
    if (!isCliError(error)) throw error
    context.reporter.warn(
      `TensorBoard on ${node} was not ended: ${error.message}. It ends itself once nobody looks at it.`,
    )
  }
}

/**
 * Until the board has ended: tells what is new of it, and brings what is added on other nodes. Nodes that do not answer
 * are asked again.
 */
async function watch(
  {
    wish,
    node,
    sources,
    mirror,
    place,
    onEvent,
  }: {
    wish: BoardWish
    node: string
    sources: string[]
    mirror: Mirror
    place: BoardPlace
    onEvent: (event: BoardEvent) => void
  },
  context: Context,
): Promise<void> {
  const told = new Set<string>()
  const once = (key: string, event: BoardEvent): void => {
    if (!told.has(key)) onEvent(event)
    told.add(key)
  }
  const growing = new Set(sources)
  while (!context.signal.aborted) {
    try {
      const host = await hostAt(place, node, context)
      for (const source of growing) {
        try {
          const {live} = await mirror.round(
            await hostAt(place, source, context),
            idsOn(wish.runs, source),
            host,
            context,
          )
          if (!live) growing.delete(source) // and all that it had is here
          told.delete(source)
        } catch (error) {
          if (context.signal.aborted || !isCliError(error)) throw error
          once(source, {event: 'missing', node: source, reason: error.message})
        }
      }
      if (mirror.isFull)
        once('full', {
          event: 'missing',
          node,
          reason: 'the event files have become larger than --limit, and what is beyond it was not copied',
        })
      const {service, seen} = await host.call('board.look', {id: wish.id}, {signal: context.signal})
      if (seen?.loaded) once('loaded', {event: 'loaded', files: seen.files, bytes: seen.bytes})
      if (seen && !seen.whole)
        once('whole', {
          event: 'missing',
          node,
          reason: 'folders of the run have so many files that they were not all looked through',
        })
      for (const one of seen?.damaged ?? []) once(`damaged ${one.file}`, {event: 'damaged', ...one})
      if (seen?.ended) return onEvent({event: 'ended', why: seen.ended})
      if (!['starting', 'running', 'waiting'].includes(service.state)) {
        throw new CliError('REMOTE_FAILED', `TensorBoard on ${node} ended: ${service.exit?.text ?? service.state}`, {
          details: {node, log: await lastLines(host, service.id)},
        })
      }
    } catch (error) {
      if (context.signal.aborted) return
      if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error // the forward tells of a lost link
    }
    await pause(LOOK_MS, undefined, {signal: context.signal}).catch(() => {})
  }
}
