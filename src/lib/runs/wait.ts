import {CliError, isCliError, type Context} from '../base/index.ts'
import type {NodeRun, NodeRunDetail} from '../protocol/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'
import {hostOf, type Place} from './find.ts'
import {endOf, isGoingOn, stateOf} from './leading.ts'
import type {FoundRun} from './types.ts'

/**
 * Seconds that one question waits on a node for the end: on the one that leads, and on another, while it is not known
 * who will.
 */
const WAIT = {leader: 20, member: 5}

/** Asks a node how the run is; it answers at once where the run is over there, else after so many seconds. */
export type AskNode = (node: string, seconds: number) => Promise<NodeRunDetail>

interface Waiting {
  /** Seconds; undefined: for ever. */
  timeout?: number | undefined
  /** Another node leads the run from now on. */
  onLeader?(leader: string): void
  /** Milliseconds. */
  now?: () => number
}

/**
 * Waits until the run is over: on the node that leads it, where that one is lost on whoever leads it on. Seconds.
 * Errors: TIMED_OUT after `timeout`, NODE_UNREACHABLE where nobody who answers knows how it ended.
 */
export async function waitForRun(
  place: Place,
  run: FoundRun,
  options: {timeout?: number | undefined; signal?: AbortSignal},
  context: Context,
): Promise<NodeRunDetail> {
  const ask: AskNode = async (node, wait) =>
    (await hostOf(place, node, context)).call(
      'run.state',
      {run: run.run, wait},
      options.signal && {signal: options.signal},
    )
  return untilOver(run, ask, {
    timeout: options.timeout,
    onLeader: (leader) => context.reporter.note(`${leader} leads run ${run.run} from now on`),
  })
}

/** The waiting of waitForRun. As long as the leader answers, nobody else is asked. */
export async function untilOver(
  run: FoundRun,
  ask: AskNode,
  {timeout, onLeader, now = Date.now}: Waiting,
): Promise<NodeRunDetail> {
  const end = timeout === undefined ? Infinity : now() + timeout * 1000
  let known: NodeRun[] = run.nodes
  for (;;) {
    const before = stateOf({run: run.run, nodes: known})
    const target = whomToAsk(run.run, known)
    const most = target.node === before.leader ? WAIT.leader : WAIT.member
    const answer = await answerOf(ask(target.node, Math.max(0, Math.min(most, (end - now()) / 1000))))
    const isLed = answer instanceof Error ? false : answer.node === answer.leader && answer.term >= before.term
    if (!(answer instanceof Error) && isLed && !answer.live && !answer.replaceable) return answer
    if (!(answer instanceof Error) && isLed && answer.live) {
      known = [answer, ...known.filter((one) => one.node !== answer.node)]
    } else {
      const {answers, absent} = await askAll(known, answer, ask, run.removed)
      const reported = {...run, nodes: answers, absent}
      if (!isGoingOn(reported)) return endOf(reported)
      known = answers
    }
    const after = stateOf({run: run.run, nodes: known})
    if (after.term > before.term) onLeader?.(after.leader)
    if (now() >= end)
      throw new CliError('TIMED_OUT', `run ${run.run} is still ${after.status} after ${timeout} s`, {
        hint: `flexrack runs wait ${run.run}`,
      })
  }
}

/**
 * Who leads, and where that one is over one that is not: what is over answers at once, and would be asked without a
 * pause.
 */
function whomToAsk(run: string, known: NodeRun[]): NodeRun {
  const best = stateOf({run, nodes: known})
  const live = known.filter((one) => one.live)
  return best.live || live.length === 0 ? best : stateOf({run, nodes: live})
}

/**
 * All nodes of the run that answer, `first` among them where it is an answer, and those that have nothing of it. Also
 * those that did not when the run was looked for: who leads it now may be one of them. Errors: that of the first
 * question, where none does.
 */
async function askAll(
  known: NodeRun[],
  first: NodeRunDetail | Error,
  ask: AskNode,
  removed: string[] = [],
): Promise<{answers: NodeRunDetail[]; absent: string[]}> {
  const names = new Set(
    known.flatMap((one) =>
      one.slurm ? [one.node] : [one.node, ...one.nodes.filter((name) => !removed.includes(name))],
    ),
  )
  if (first instanceof Error && names.size === 1) throw first
  const own = first instanceof Error ? [] : [first]
  const rest = [...names].filter((name) => name !== own[0]?.node)
  const reported = await Promise.all(rest.map(async (name) => ({name, answer: await answerOf(ask(name, 0))})))
  const answers = [...own, ...reported.flatMap(({answer}) => (answer instanceof Error ? [] : [answer]))]
  if (first instanceof Error && answers.length === 0) throw first
  return {answers, absent: reported.flatMap(({name, answer}) => (isCliError(answer, 'NOT_FOUND') ? [name] : []))}
}

/** The error where it says no more than that this node cannot be asked, or has nothing of the run. */
async function answerOf(question: Promise<NodeRunDetail>): Promise<NodeRunDetail | Error> {
  try {
    return await question
  } catch (error) {
    if (isLinkTrouble(error) || isCliError(error, 'NOT_FOUND')) return error as CliError
    throw error
  }
}
