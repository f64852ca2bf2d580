import {randomBytes} from 'node:crypto'
import type {Context} from '../base/index.ts'
import type {CheckName} from './checks.ts'
import {Conversation, within} from './conversation.ts'
import {measureRates} from './rates.ts'
import type {Measured, NodeMeasured, PreflightNode, PreflightTimes, Way} from './types.ts'

export interface MeasureInput {
  nodes: PreflightNode[]
  checks: CheckName[]
  /** Which Open MPI is there counts. */
  mpi?: boolean
  /** Name of the project whose environment is looked at; absent: none. */
  project?: string
  /**
   * Bandwidth also between nodes that share a machine, where it says nothing about a network: for measuring the
   * measuring.
   */
  onOneMachine?: boolean
}

/** One node while it is measured. */
export interface Taking {
  measured: NodeMeasured
  talk: Conversation
  port?: number
}

/** Milliseconds until a process is there: a second as a rule, more where many nodes are one machine. */
const READY_MS = 8000
const ANSWER_MS = 3000
/**
 * Connecting takes 3 s at most on the node, the talk after it three times 2 s; a few hundred connections take their
 * time, too.
 */
const REACH_MS = 7000
/** After so long nothing is tried a second time. */
const AGAIN_MS = 5000
const FACTS_MS = 8000
const BANDWIDTH_MS = 3000
const ALL_MS = 9500

/**
 * Asks all nodes at once; a node that fails is told in its own `error` and left out of what follows. Everybody is
 * connected to by everybody; bandwidth is measured in rounds, as many as there is time for.
 */
export async function measureNodes(
  {nodes, checks, project, mpi = false, onOneMachine = false}: MeasureInput,
  context: Context,
): Promise<Measured> {
  const begin = performance.now()
  const secret = randomBytes(24).toString('hex')
  const talks = nodes.map(({host, address}, index): Taking => {
    const input = {
      node: host.node,
      leads: index === 0,
      checks,
      ...(mpi && {mpi}),
      ...(project !== undefined && {project}),
      ...(address !== undefined && {address, secret}),
    }
    return {
      measured: {node: host.node, ...(address !== undefined && {address})},
      talk: new Conversation(host, input, context.signal),
    }
  })
  const times: PreflightTimes = {open: 0, reach: 0, bandwidth: 0, facts: 0, total: 0}
  const timed = async <T>(phase: keyof PreflightTimes, work: Promise<T>): Promise<T> => {
    const from = performance.now()
    return work.finally(() => {
      times[phase] = Math.round(performance.now() - from)
    })
  }
  try {
    const rendezvous = await timed('open', open(talks, checks))
    const able = talks.filter((one) => one.port !== undefined)
    const ways = checks.includes('reach') ? await timed('reach', reachAll(able, rendezvous)) : []
    const left = Math.min(BANDWIDTH_MS, ALL_MS - (performance.now() - begin))
    const {rates, pairs} = await timed(
      'bandwidth',
      measureRates(able, ways, checks.includes('bandwidth') ? left : 0, onOneMachine),
    )
    await timed('facts', askFacts(talks, FACTS_MS))
    times.total = Math.round(performance.now() - begin)
    return {nodes: talks.map((one) => one.measured), ways, rates, pairs, times}
  } finally {
    await Promise.all(talks.map((one) => one.talk.close()))
  }
}

/** Waits until every node listens, and reads its clock. Returns where the leader's rendezvous would be. */
async function open(talks: Taking[], checks: CheckName[]): Promise<[string, string, number] | undefined> {
  let rendezvous: [string, string, number] | undefined
  await Promise.all(
    talks.map(async (one) => {
      const {measured, talk} = one
      try {
        const ready = (await within(talk.ready, READY_MS, measured.node)) as unknown as {machine: string}
        measured.machine = ready.machine
      } catch (error) {
        measured.error = (error as Error).message
      }
    }),
  )
  // All ports open together: a node that was slow to start does not use up the time that those of the others are open.
  await Promise.all(
    talks
      .filter((one) => one.measured.error === undefined)
      .map(async (one) => {
        const {measured, talk} = one
        try {
          if (checks.includes('clock')) measured.clock = await readClock(talk)
          if (measured.address === undefined) return
          const opened = await talk.ask({do: 'listen'}, ANSWER_MS)
          if (opened.interface) measured.interface = opened.interface
          if (opened.failed !== undefined) measured.closed = opened.failed
          else if (opened.port !== undefined) one.port = opened.port
          if (opened.rendezvous !== undefined) rendezvous = [measured.node, measured.address, opened.rendezvous]
        } catch (error) {
          measured.error = (error as Error).message
        }
      }),
  )
  return rendezvous
}

async function readClock(talk: Conversation): Promise<{ahead: number; within: number}> {
  const before = Date.now()
  const {at} = await talk.ask({do: 'clock'}, ANSWER_MS)
  const after = Date.now()
  return {ahead: at - (before + after) / 2000, within: (after - before) / 2000}
}

/**
 * Everybody to everybody. What got no answer in time is tried once more: a lost packet, or a busy moment, is no cut.
 */
async function reachAll(able: Taking[], rendezvous: [string, string, number] | undefined): Promise<Way[]> {
  const begin = performance.now()
  const first = await reachOnce(able, rendezvous, () => true)
  const unsure = new Set(first.filter((way) => way.error === 'silent' || way.error === 'mute').map(keyOf))
  if (unsure.size === 0 || performance.now() - begin > AGAIN_MS) return first
  const second = new Map(
    (await reachOnce(able, rendezvous, (way) => unsure.has(keyOf(way)))).map((way) => [keyOf(way), way]),
  )
  return first.map((way) => second.get(keyOf(way)) ?? way)
}

const keyOf = ({from, to, rendezvous}: Pick<Way, 'from' | 'to' | 'rendezvous'>): string =>
  `${from} ${to} ${rendezvous ?? false}`

async function reachOnce(
  able: Taking[],
  rendezvous: [string, string, number] | undefined,
  isWanted: (way: Pick<Way, 'from' | 'to' | 'rendezvous'>) => boolean,
): Promise<Way[]> {
  const places = able.map(
    ({measured, port}) => [measured.node, [measured.address as string, port as number] as [string, number]] as const,
  )
  const found = await Promise.all(
    able.map(async ({measured, talk}): Promise<Way[]> => {
      const from = measured.node
      const peers = Object.fromEntries(places.filter(([to]) => to !== from && isWanted({from, to})))
      const leader =
        rendezvous && rendezvous[0] !== from && isWanted({from, to: rendezvous[0], rendezvous: true})
          ? rendezvous
          : undefined
      if (measured.error !== undefined || (Object.keys(peers).length === 0 && !leader)) return []
      try {
        const answer = await talk.ask({do: 'reach', peers, ...(leader && {rendezvous: leader})}, REACH_MS)
        const ways = Object.entries(answer.ways).map(([to, way]): Way => ({from, to, ...way}))
        return answer.rendezvous && leader
          ? [...ways, {from, to: leader[0], ...answer.rendezvous, rendezvous: true}]
          : ways
      } catch (error) {
        measured.error ??= (error as Error).message
        return []
      }
    }),
  )
  return found.flat()
}

async function askFacts(talks: Taking[], milliseconds: number): Promise<void> {
  await Promise.all(
    talks.map(async ({measured, talk}) => {
      if (measured.error !== undefined) return
      try {
        const state = await talk.ask({do: 'facts'}, milliseconds)
        measured.state = state
      } catch (error) {
        measured.error = (error as Error).message
      }
    }),
  )
}
