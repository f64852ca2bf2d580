import {CliError, isCliError, type Context} from '../base/index.ts'
import type {PageAsks, PageLines} from '../head/index.ts'
import {openHost} from '../host/index.ts'
import type {Verbs} from '../protocol/index.ts'
import {openRuns, type FoundRun} from '../runs/index.ts'
import type {PagePlace} from './answers.ts'
import {earliest, mergedQuestion, mergeParts, placeOf} from './merged.ts'

/** A run is looked for on all nodes once, not for each part of its log. Milliseconds. */
const KNOWN_MS = 60_000

/** Parts of logs, each from the node that has it. */
export class LogParts {
  readonly #place: PagePlace
  readonly #context: Context
  readonly #runs = new Map<string, {found: FoundRun; at: number}>()
  /** Which node has the log of a rank, as it was found. */
  readonly #nodes = new Map<string, string>()

  constructor(place: PagePlace, context: Context) {
    this.#place = place
    this.#context = context
  }

  /** Errors: NOT_FOUND where no node has it; those of the last node that was asked. */
  async read({run, rank, attempt, at}: PageAsks['lines']['input']): Promise<PageLines> {
    const {nodes} = await this.#find(run)
    const key = `${run} ${rank} ${attempt}`
    const names = nodes.map((one) => one.node)
    const processes = nodes[0]?.processes ?? 1
    const likely = this.#nodes.get(key) ?? (rank === null ? names[0] : nodes[0]?.nodes[Math.floor(rank / processes)])
    const order = [...new Set([likely, ...names])].filter(
      (one): one is string => one !== undefined && names.includes(one),
    )
    let last: unknown = new CliError('NOT_FOUND', `no node has run ${run}`)
    for (const name of order) {
      try {
        const node = this.#place.rack.nodes.find((one) => one.name === name)
        if (!node) continue
        const host = await openHost(this.#place.fleet, node, this.#context)
        const part = await host.call('run.window', {run, rank, attempt, ...placeOf(at)}, {signal: this.#context.signal})
        this.#nodes.set(key, name)
        const {live, found, ...lines} = part
        return {...lines, node: name, open: live, ...(found !== null && {found})}
      } catch (error) {
        last = error
        if (!isCliError(error, 'NOT_FOUND')) throw error
      }
    }
    throw last
  }

  /** Errors: NOT_FOUND where no node has any; those of a node that does not answer. */
  async readMerged(wish: PageAsks['merged']['input']): Promise<PageLines> {
    const {nodes} = await this.#find(wish.run)
    const names = nodes.map((one) => one.node)
    const {at} = wish
    const isSought = 'search' in at || 'error' in at
    const parts = await this.#merged(names, wish)
    if (!isSought) return mergeParts(parts, !('from' in at))
    const first = earliest(parts)
    if (!first) return {...mergeParts(parts, true), found: null}
    // What the others have of that time: they found theirs later, or nothing.
    const again = await this.#merged(names, {...wish, at: {from: first.from}})
    return {...mergeParts(again, false), found: first.found}
  }

  async #merged(
    names: string[],
    wish: PageAsks['merged']['input'],
  ): Promise<Map<string, Verbs['run.merged']['result']>> {
    const question = mergedQuestion(wish)
    const found = new Map<string, Verbs['run.merged']['result']>()
    let last: unknown = new CliError('NOT_FOUND', `no node has run ${wish.run}`)
    await Promise.all(
      names.map(async (name) => {
        const node = this.#place.rack.nodes.find((one) => one.name === name)
        if (!node) return
        try {
          const host = await openHost(this.#place.fleet, node, this.#context)
          found.set(name, await host.call('run.merged', question, {signal: this.#context.signal}))
        } catch (error) {
          if (!isCliError(error, 'NOT_FOUND')) throw error
          last = error
        }
      }),
    )
    if (found.size === 0) throw last
    return new Map([...found].toSorted(([a], [b]) => a.localeCompare(b)))
  }

  async #find(run: string): Promise<FoundRun> {
    const known = this.#runs.get(run)
    if (known && Date.now() - known.at < KNOWN_MS) return known.found
    const runs = openRuns(this.#place, this.#context)
    try {
      const found = await runs.find(run)
      this.#runs.set(run, {found, at: Date.now()})
      return found
    } finally {
      await runs.close()
    }
  }
}
