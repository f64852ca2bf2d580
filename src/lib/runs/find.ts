import {CliError, type Context} from '../base/index.ts'
import {nearestName} from '../document/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {NodeRun} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import {quote, type Fleet} from '../ssh/index.ts'
import {cachedListing} from './cached-listing.ts'
import type {FoundRun} from './types.ts'

/** Where runs are looked for. */
export interface Place {
  rack: Rack
  fleet: Fleet
  /** Only runs of this project are meant where no run is named. */
  project?: string | undefined
  /** Hosts that are open: they serve on after the second Ctrl-C, when no connection is made any more. */
  hosts?: Map<string, Host>
  /** Runs of nodes that were looked at a moment ago, all of them over: these nodes are not asked again. */
  known?: ReadonlyMap<string, NodeRun[]>
  /** Nodes that did not answer a moment ago, with the reason: they are not asked again, either. */
  away?: ReadonlyMap<string, Error>
}

export interface Looked {
  /** Newest first. */
  runs: FoundRun[]
  /** Nodes that could not be asked, with the reason. */
  failed: Map<string, Error>
}

/**
 * Asks every node of the rack for its runs. Nodes that do not answer are in `failed`; only if some are asked and none
 * does it throws.
 */
export async function lookForRuns(place: Place, context: Context): Promise<Looked> {
  const answers = await Promise.allSettled(
    place.rack.nodes.map(async ({name}) => {
      const away = place.away?.get(name)
      if (away) throw away
      return place.known?.get(name) ?? runsOn(await hostOf(place, name, context), context)
    }),
  )
  const byRun = new Map<string, NodeRun[]>()
  const failed = new Map<string, Error>()
  for (const [index, answer] of answers.entries()) {
    const name = place.rack.nodes[index]?.name ?? ''
    if (answer.status === 'rejected') failed.set(name, answer.reason as Error)
    else for (const one of answer.value) byRun.set(one.run, [...(byRun.get(one.run) ?? []), one])
  }
  const tried = place.rack.nodes.filter(({name}) => !place.away?.has(name))
  if (tried.length > 0 && failed.size === place.rack.nodes.length) throw failed.get(tried[0]?.name as string)
  const requested = place.rack.nodes.flatMap(({name}) => (failed.has(name) ? [] : [name]))
  const isInRack = new Set(place.rack.nodes.map((one) => one.name))
  const runs = [...byRun].map(([run, nodes]) => ({
    run,
    nodes: nodes.sort((a, b) => a.index - b.index),
    absent: requested.filter((name) => !nodes.some((one) => one.node === name)),
    removed: [...new Set(nodes.flatMap((one) => (one.slurm ? [] : one.nodes)))].filter((name) => !isInRack.has(name)),
  }))
  runs.sort((a, b) => createdAt(b) - createdAt(a))
  return {runs, failed}
}

/** A node without any run that goes on, which most are, is not made to start Python for saying so. */
async function runsOn(host: Host, context: Context): Promise<NodeRun[]> {
  const {stdout} = await host.shell.exec(cachedListing.script(quote([host.root])), {signal: context.kill})
  return cachedListing.read(stdout) ?? host.call('run.list', null, {signal: context.kill})
}

/**
 * The run that is meant: by id, by the beginning of an id, or the newest (of the project). Errors: NOT_FOUND with the
 * nearest id, CONFLICT for a beginning that fits several; NODE_UNREACHABLE where it may be on a node that does not
 * answer.
 */
export async function findRun(place: Place, name: string | undefined, context: Context): Promise<FoundRun> {
  const {runs, failed} = await lookForRuns(place, context)
  for (const [node, error] of failed) context.reporter.warn(`${node} was not asked: ${error.message}`)
  return chooseRun(runs, name, place.project, [...failed.keys()])
}

/** The choice of findRun; pure. `unasked`: nodes that may know more. */
export function chooseRun(
  runs: FoundRun[],
  name: string | undefined,
  project: string | undefined,
  unasked: string[] = [],
): FoundRun {
  if (name === undefined) {
    const own = runs.find((one) => project === undefined || one.nodes[0]?.project === project)
    if (own) return own
    throw new CliError('NOT_FOUND', `there is no run${project ? ` of ${project}` : ''} yet`, {hint: 'flexrack train'})
  }
  const exact = runs.find((one) => one.run === name)
  if (exact) return exact
  const matching = runs.filter((one) => one.run.startsWith(name) || one.nodes[0]?.tracked === name)
  if (matching.length === 1 && matching[0]) return matching[0]
  if (matching.length > 1) {
    throw new CliError('CONFLICT', `${matching.length} runs begin with ${name}`, {
      details: {runs: matching.slice(0, 10).map((one) => one.run)},
      hint: 'flexrack runs list',
    })
  }
  const near = nearestName(
    name,
    runs.map((one) => one.run),
  )
  const code = unasked.length > 0 && !near ? 'NODE_UNREACHABLE' : 'NOT_FOUND'
  throw new CliError(
    code,
    `there is no run ${name}${near ? `; did you mean ${near}?` : ''}${unasked.length > 0 ? ` on the nodes that answer (${unasked.join(', ')} did not)` : ''}`,
    {
      hint: near ? `flexrack runs show ${near}` : 'flexrack runs list',
      details: {nearest: near},
    },
  )
}

/** The host of a node, by name. Errors: those of openHost; NOT_FOUND where the rack has no such node any more. */
export async function hostOf(place: Place, name: string, context: Context): Promise<Host> {
  const open = place.hosts?.get(name)
  if (open && context.kill.aborted) return open
  const node = place.rack.nodes.find((one) => one.name === name)
  if (!node)
    throw new CliError('NOT_FOUND', `rack ${place.rack.name} has no node ${name} any more`, {
      hint: `flexrack rack show ${place.rack.name}`,
    })
  const host = await openHost(place.fleet, node, context)
  place.hosts?.set(name, host)
  return host
}

function createdAt(run: FoundRun): number {
  return Math.max(...run.nodes.map((one) => one.created))
}
