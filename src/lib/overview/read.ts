import {isCliError, silentReporter, type Context} from '../base/index.ts'
import {openEndpoints, type EndpointSummary} from '../endpoint/index.ts'
import {headStatus} from '../head/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Rack} from '../rack/index.ts'
import {openRuns, type RunEntry} from '../runs/index.ts'
import {forEachNode, type Fleet} from '../ssh/index.ts'
import {GLANCE_SCRIPT, parseGlance} from './glance.ts'
import type {HeadGlance, NodeGlance, Overview} from './types.ts'

interface Place {
  rack: Rack
  fleet: Fleet
  manifest?: Manifest | undefined
}

/** Asks everything at once. A node, or a part, that does not answer is part of the answer: throws only INTERRUPTED. */
export async function readOverview(place: Place, limit: number, context: Context): Promise<Overview> {
  const progress = context.reporter.begin(`Asking rack ${place.rack.name}`)
  // The parts are asked for one table each; what they would report on the way is in it.
  const quiet = {...context, reporter: silentReporter}
  const unknown: Overview['unknown'] = []
  const orUnknown = async <T>(part: Overview['unknown'][number]['part'], rows: Promise<T[]>): Promise<T[]> =>
    rows.catch((error: Error) => {
      // Without a head there are none, and the line about the head says so.
      if (!isCliError(error, 'NOT_FOUND')) unknown.push({part, message: error.message})
      return []
    })
  try {
    const [nodes, head, runs, endpoints] = await Promise.all([
      glanceAt(place),
      glanceAtHead(place, quiet),
      orUnknown('runs', listRuns(place, limit, quiet)),
      orUnknown('endpoints', listEndpoints(place, quiet)),
    ])
    context.signal.throwIfAborted()
    progress.done()
    return {rack: place.rack.name, nodes, head, runs, endpoints, unknown}
  } catch (error) {
    progress.fail()
    throw error
  }
}

async function glanceAt({rack, fleet}: Place): Promise<NodeGlance[]> {
  const {done, failed} = await forEachNode(fleet, rack.nodes.map((node) => node.name), (shell) => shell.run(GLANCE_SCRIPT))
  return rack.nodes.map(({name, host}) => {
    const error = failed.get(name)
    const glance = {node: name, host, ok: !error, ...parseGlance(done.get(name) ?? '')}
    if (!error) return glance
    const known = isCliError(error) ? error : undefined
    return {...glance, code: known?.code ?? 'BUG', message: error.message, ...(known?.hint !== undefined && {hint: known.hint})}
  })
}

async function glanceAtHead({rack, fleet}: Place, context: Context): Promise<HeadGlance> {
  try {
    const {node, state, url} = await headStatus(rack, fleet, context)
    return {node, state, url}
  } catch {
    return {node: rack.head.node, state: 'unreachable', url: null}
  }
}

async function listRuns(place: Place, limit: number, context: Context): Promise<RunEntry[]> {
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
