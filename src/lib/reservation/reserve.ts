import {setTimeout as pause} from 'node:timers/promises'
import {CliError, ownerName, throwIfInterrupted, type Context, type Progress} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {ClaimPart, TakeAnswer, Wants} from '../protocol/index.ts'
import {holdersByNode, inFixedOrder, judge, partsOf, seenOf, ticketOf} from './judge.ts'
import {Keeper, TTL_SECONDS} from './keep.ts'
import {holderText, notOurTurn, refusal} from './text.ts'
import type {GangWish, Turns} from './types.ts'

export interface ReserveOptions {
  /** Seconds to stand in line: Infinity without end, absent not at all. */
  wait?: number | undefined
  /** Asked before anything is kept, and in line. */
  turns?: Turns | undefined
  /** A node again whose connection was lost meanwhile: else it is not renewed any more. */
  reach?: (node: string) => Host | Promise<Host>
}

/** All nodes of a gang, reserved. It is renewed until `close`. */
export interface GangReservation {
  /** Fencing number by node. */
  fences: ReadonlyMap<string, number>
  /** What it has, in words that are the same for everybody. */
  parts: ClaimPart[]
  /** Before a node is to start what it is reserved for. Errors: RESERVATION_LOST, those of the connection. */
  ensure(node: string): Promise<void>
  /** The supervisor on this node has it: it is not renewed there any more. */
  handOver(node: string): void
  /** The supervisors have it: renews no more. */
  close(): void
  /** Gives back what no supervisor has. */
  release(): Promise<void>
}

/** Milliseconds between two looks while others settle who gets a node, and while standing in line. */
const SETTLE_MS = 200
const LOOK_MS = 1000

/**
 * Reserves every host for a run, or none: all are asked at once; where two gangs took nodes from each other, both give
 * back and take one after the other in one order that is the same for everybody, so that one of them gets all. Errors:
 * RESERVED (by whom), TIMED_OUT where waiting was limited, INTERRUPTED, and those of a node. Nothing is left reserved
 * then.
 */
export async function reserveGang(
  hosts: Host[],
  wish: GangWish,
  options: ReserveOptions,
  context: Context,
): Promise<GangReservation> {
  const gang = new Gang(hosts, wish, options, context)
  try {
    return await gang.reserve()
  } catch (error) {
    await gang.giveUp()
    throw error
  }
}

class Gang {
  readonly #keeper: Keeper
  #since: number | undefined
  /** Who waits for the same, and whom the head lets us pass. */
  #passes: string[] = []
  readonly #hosts: Host[]
  readonly #wish: GangWish
  readonly #options: ReserveOptions
  readonly #context: Context

  constructor(hosts: Host[], wish: GangWish, options: ReserveOptions, context: Context) {
    this.#hosts = hosts
    this.#wish = wish
    this.#options = options
    this.#context = context
    this.#keeper = new Keeper(wish.lease, options.reach)
  }

  async reserve(): Promise<GangReservation> {
    const begun = Date.now()
    let waiting: Progress | undefined
    try {
      for (;;) {
        const answers = await this.#takeAll()
        const parts = this.#partsOf(answers)
        if (judge(answers.values()) === 'granted' && (await this.#isAllowed(parts))) {
          await this.#keeper.confirm(this.#context.signal)
          this.#warnUnshared(answers, waiting === undefined)
          waiting?.done('It is our turn')
          return {
            fences: this.#keeper.fences,
            parts,
            ensure: (node) => this.#keeper.ensure(node),
            handOver: (node) => this.#keeper.handOver(node),
            close: () => this.#keeper.close(),
            release: () => this.giveUp(),
          }
        }
        if (this.#options.wait === undefined) throw refusal(holdersByNode(answers), this.#hosts.length)
        await this.#keeper.release(
          this.#hosts.filter((host) => this.#keeper.fences.has(host.node)),
          {wait: true},
        )
        this.#since ??= ticketOf(this.#hosts, answers)
        waiting ??= this.#context.reporter.begin(
          `Waiting for ${answers.size === 1 ? [...answers.keys()][0] : `${answers.size} nodes`}`,
        )
        await this.#standInLine(waiting, begun + this.#options.wait * 1000)
      }
    } catch (error) {
      waiting?.fail()
      throw error
    }
  }

  async giveUp(): Promise<void> {
    await this.#keeper.release(this.#hosts)
    this.#keeper.close()
  }

  /**
   * All at once; where others are at it too, one after the other. What was granted is held then, also where the whole
   * is refused.
   */
  async #takeAll(): Promise<Map<string, TakeAnswer>> {
    const answers = await this.#askAll({})
    if (judge(answers.values()) !== 'unsettled') return answers
    await this.#keeper.release(
      this.#hosts.filter((host) => answers.get(host.node)?.granted),
      {wait: this.#waits},
    )
    for (const host of inFixedOrder(this.#hosts, answers)) {
      const answer = await this.#takeSettled(host)
      answers.set(host.node, answer)
      if (!answer.granted) break
    }
    return answers
  }

  /** Waits until those who hold the node for a moment have it or have given it back. */
  async #takeSettled(host: Host): Promise<TakeAnswer> {
    const end = Date.now() + TTL_SECONDS * 1000
    for (;;) {
      const answer = await this.#ask(host, {})
      if (judge([answer]) !== 'unsettled' || Date.now() > end) return answer
      await this.#pause(SETTLE_MS)
    }
  }

  /** Until nobody on any node is in the way; the places in line are renewed meanwhile. Errors: TIMED_OUT. */
  async #standInLine(waiting: Progress, end: number): Promise<void> {
    for (;;) {
      const answers = await this.#askAll({look: true})
      const turn = await this.#options.turns?.turn(this.#partsOf(answers), seenOf(answers))
      const isLetIn = turn?.go !== false
      if (isLetIn && turn) this.#passes = turn.passes
      if (isLetIn && (judge(answers.values()) === 'granted' || (await this.#isFree(turn?.passes)))) return
      if (turn?.why) waiting.detail(turn.why)
      const [first] = holdersByNode(answers)
      const holder = first?.holders[0]
      if (first && holder && !turn?.why) waiting.detail(`${first.node}: ${holderText(holder)}`)
      if (Date.now() >= end) {
        const error = first ? refusal(holdersByNode(answers), this.#hosts.length) : notOurTurn(turn?.why)
        throw new CliError('TIMED_OUT', `${error.message}, and that did not change in ${this.#options.wait} s`, {
          details: error.details,
          hint: 'flexrack rack reservations',
        })
      }
      await this.#pause(Math.min(LOOK_MS, Math.max(0, end - Date.now())))
    }
  }

  async #askAll(how: {look?: boolean}): Promise<Map<string, TakeAnswer>> {
    const settled = await Promise.allSettled(
      this.#hosts.map(async (host) => [host.node, await this.#ask(host, how)] as const),
    )
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
    return new Map(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
  }

  async #ask(host: Host, {look = false}: {look?: boolean}): Promise<TakeAnswer> {
    const {lease, project} = this.#wish
    const wants = this.#wantsOn(host.node)
    const given = {
      lease,
      owner: ownerName(this.#context),
      project,
      wants,
      node: host.node,
      nodes: this.#hosts.map((one) => one.node),
      ttl: TTL_SECONDS,
      wait: this.#waits,
      since: this.#since,
      look,
      ...(this.#passes.length > 0 && {passes: this.#passes}),
    }
    const answer = await host.call('reservation.take', given, {signal: this.#context.signal})
    if (answer.granted && !look) this.#keeper.add(host, answer.fence as number)
    return answer
  }

  /** All that is granted is kept meanwhile. Errors: QUOTA. */
  async #isAllowed(parts: ClaimPart[]): Promise<boolean> {
    return (await this.#options.turns?.granted(parts))?.go !== false
  }

  #partsOf(answers: ReadonlyMap<string, TakeAnswer>): ClaimPart[] {
    return partsOf(answers, (node) => this.#wantsOn(node))
  }

  /** Whether only those are in the way whom the head lets us pass. */
  async #isFree(passes: string[] | undefined): Promise<boolean> {
    return passes !== undefined && passes.length > 0 && judge((await this.#askAll({look: true})).values()) === 'granted'
  }

  #wantsOn(node: string): Wants {
    return this.#wish.on?.get(node) ?? this.#wish.wants
  }

  get #waits(): boolean {
    return this.#options.wait !== undefined
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, {signal: this.#context.signal}).catch(() => throwIfInterrupted(this.#context.signal))
  }

  #warnUnshared(answers: ReadonlyMap<string, TakeAnswer>, first: boolean): void {
    const alone = [...answers].filter(([, one]) => !one.shared).map(([node]) => node)
    if (first && alone.length > 0)
      this.#context.reporter.warn(
        `${alone.join(', ')}: no folder there is shared by all users, so other users' runs are not seen`,
      )
  }
}
