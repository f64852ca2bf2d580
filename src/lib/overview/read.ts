import {isCliError, silentReporter, withProgress, type Context} from '../base/index.ts'
import {openEndpoints, type EndpointSummary} from '../endpoint/index.ts'
import {headStatus} from '../head/index.ts'
import type {Manifest} from '../manifest/index.ts'
import {throwIfAnyFailed} from '../nodes/index.ts'
import type {NodeRun} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import {openRuns, type RunEntry, type RunsPlace} from '../runs/index.ts'
import {forEachNode, type Fleet} from '../ssh/index.ts'
import {summaryScript, parseSummary} from './node-summary.ts'
import type {GpuUse, HeadSummary, NodeSummary, Overview} from './types.ts'

interface Place {
  rack: Rack
  fleet: Fleet
  manifest?: Manifest | undefined
}

/**
 * Asks all nodes at once, then for runs and endpoints only where there can be some: what costs is a Python for each
 * node. A node, or a part, that does not answer is part of the answer: throws only INTERRUPTED.
 */
export async function readOverview(place: Place, limit: number, context: Context): Promise<Overview> {
  // What the parts would report on the way is in the answer.
  const quiet = {...context, reporter: silentReporter}
  const unknown: Overview['unknown'] = []
  const orUnknown = async <T>(part: Overview['unknown'][number]['part'], rows: Promise<T[]>): Promise<T[]> =>
    rows.catch((error: Error) => {
      // Without a head there are none, and the line about the head says so.
      if (!isCliError(error, 'NOT_FOUND')) unknown.push({part, message: error.message})
      return []
    })
  return withProgress(context.reporter, [`Asking rack ${place.rack.name}`], async () => {
    const [summaries, head] = await Promise.all([summarizeNodes(place), summarizeHead(place, quiet)])
    const withRuns = place.rack.nodes.filter(
      ({name}) => summaries.get(name)?.ok && summaries.get(name)?.runs?.length !== 0,
    )
    const known = new Map(
      [...summaries].flatMap(([name, {runs, error}]) => (runs && !error ? [[name, runs] as const] : [])),
    )
    // The whole rack is told of: how a run ended is known only where it is known who of its nodes does not answer.
    const away = new Map([...summaries].flatMap(([name, {error}]) => (error ? [[name, error] as const] : [])))
    const tracked = head.state !== 'stopped' || place.manifest?.tracking.uri !== undefined
    const [runs, endpoints, shared, reservations] = await Promise.all([
      tracked || withRuns.length > 0 ? orUnknown('runs', listRuns({...place, known, away}, limit, quiet)) : [],
      head.state === 'stopped' ? [] : orUnknown('endpoints', listEndpoints(place, quiet)),
      readShared(place, summaries, quiet),
      orUnknown('reservations', listReservations(place, summaries, quiet)),
    ])
    context.signal.throwIfAborted()
    return {rack: place.rack.name, nodes: shownNodes(summaries), head, runs, endpoints, shared, reservations, unknown}
  })
}

/**
 * Of the same, what tells who has which GPUs: neither the head nor runs and endpoints are asked. Errors: those of a node
 * that answers and does not tell of its reservations; INTERRUPTED.
 */
export async function readGpuUse(place: Place, context: Context): Promise<GpuUse> {
  const quiet = {...context, reporter: silentReporter}
  return withProgress(context.reporter, [`Asking rack ${place.rack.name}`], async () => {
    const summaries = await summarizeNodes(place)
    const [shared, reservations] = await Promise.all([
      readShared(place, summaries, quiet),
      listReservations(place, summaries, quiet),
    ])
    context.signal.throwIfAborted()
    return {rack: place.rack.name, nodes: shownNodes(summaries), shared, reservations}
  })
}

type Summaries = Map<
  string,
  NodeSummary & {runs: NodeRun[] | undefined; error: Error | undefined; shares: boolean; reserved: boolean}
>

function shownNodes(summaries: Summaries): NodeSummary[] {
  return [...summaries.values()].map(
    ({runs: _runs, error: _error, shares: _shares, reserved: _reserved, ...node}) => node,
  )
}

async function summarizeNodes({rack, fleet}: Place): Promise<Summaries> {
  const byName = new Map(rack.nodes.map((node) => [node.name, node]))
  const {done, failed} = await forEachNode(fleet, [...byName.keys()], (shell, name) =>
    shell.run(summaryScript(byName.get(name) as RackNode)),
  )
  return new Map(
    rack.nodes.map(({name, host}) => {
      const error = failed.get(name)
      const gone = isCliError(error) && error.details.gone === true
      const summary = {node: name, host, ok: !error, gone, error, ...parseSummary(done.get(name) ?? '')}
      if (!error) return [name, summary]
      const known = isCliError(error) ? error : undefined
      return [
        name,
        {
          ...summary,
          code: known?.code ?? 'BUG',
          message: error.message,
          ...(known?.hint !== undefined && {hint: known.hint}),
        },
      ]
    }),
  )
}

async function summarizeHead({rack, fleet}: Place, context: Context): Promise<HeadSummary> {
  try {
    const {node, state, url, standby} = await headStatus(rack, fleet, context)
    return {node, state, url, ...(standby && {standby: {node: standby.node, state: standby.state, url: standby.url}})}
  } catch {
    return {node: rack.head.node, state: 'unreachable', url: null}
  }
}

async function readShared(place: Place, summaries: Summaries, context: Context): Promise<Overview['shared']> {
  const sharing = place.rack.nodes.filter(({name}) => summaries.get(name)?.shares)
  if (sharing.length === 0) return {devices: [], leases: [], nodes: []}
  const {openGpus} = await import('../gpu/index.ts') // most racks share none
  const {devices, leases, nodes} = await openGpus(place, context).read(sharing)
  return {devices, leases, nodes}
}

async function listReservations(
  {rack, fleet}: Place,
  summaries: Summaries,
  context: Context,
): Promise<Overview['reservations']> {
  const nodes = rack.nodes.filter(({name}) => summaries.get(name)?.reserved)
  if (nodes.length === 0) return []
  const {readReservations} = await import('../reservation/index.ts') // most of the time there are none
  const reports = await readReservations(nodes, fleet, context)
  throwIfAnyFailed(reports)
  return reports.flatMap(({node, value}) => (value?.reservations ?? []).map((one) => ({...one, at: node})))
}

async function listRuns(place: RunsPlace, limit: number, context: Context): Promise<RunEntry[]> {
  const runs = openRuns(place, context)
  try {
    return (await runs.list({all: true, limit})).runs
  } finally {
    await runs.close()
  }
}

async function listEndpoints(place: Place, context: Context): Promise<EndpointSummary[]> {
  const endpoints = await openEndpoints(place, context)
  try {
    return await endpoints.list()
  } finally {
    await endpoints.close()
  }
}
