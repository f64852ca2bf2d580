import {findBackground} from '../background/index.ts'
import {CliError, type Context} from '../base/index.ts'
import {nearestName} from '../document/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Sweep} from './types.ts'
import {bestOf} from './words.ts'

/** Where sweeps are kept: the rack's head node. */
export interface SweepPlace {
  rack: Rack
  fleet: Fleet
  /** Only sweeps of this project are meant where none is named. */
  project?: string | undefined
}

/** Sweeps, newest first. Needs neither Optuna nor a head that runs. */
export async function listSweeps(
  {rack, fleet, project}: SweepPlace,
  options: {all: boolean},
  context: Context,
): Promise<Sweep[]> {
  const host = await openStorage({rack, fleet}, context)
  const found = await host.call('sweep.list', options.all || project === undefined ? {} : {project}, {
    signal: context.signal,
  })
  return Promise.all(
    found.map(async (one) => ({
      ...one,
      best: bestOf(one.trials, one.spec.goal),
      background: await findBackground(one.sweep, context),
    })),
  )
}

/** The node that keeps them: the head's, whether or not the head runs. */
export async function openStorage({rack, fleet}: Pick<SweepPlace, 'rack' | 'fleet'>, context: Context): Promise<Host> {
  const node = rack.nodes.find((one) => one.name === rack.head.node)
  if (!node)
    throw new CliError('RACK_INVALID', `${rack.path}: head.node ${rack.head.node} is not a node of the rack`, {
      hint: `flexrack rack show ${rack.name}`,
    })
  return openHost(fleet, node, context)
}

/**
 * The sweep that is meant: by id, by the beginning of an id, or the newest (of the project). Errors: NOT_FOUND with the
 * nearest id, CONFLICT for a beginning that fits several.
 */
export async function findSweep(place: SweepPlace, name: string | undefined, context: Context): Promise<Sweep> {
  const sweeps = await listSweeps(place, {all: true}, context)
  if (name === undefined) {
    const own = sweeps.find((one) => place.project === undefined || one.project === place.project)
    if (own) return own
    throw new CliError(
      'NOT_FOUND',
      `there is no sweep${place.project === undefined ? '' : ` of ${place.project}`} yet`,
      {hint: 'flexrack sweep'},
    )
  }
  const matching = sweeps.filter((one) => one.sweep === name)
  if (matching.length === 0) matching.push(...sweeps.filter((one) => one.sweep.startsWith(name)))
  if (matching.length === 1 && matching[0]) return matching[0]
  if (matching.length > 1)
    throw new CliError('CONFLICT', `${matching.length} sweeps begin with ${name}`, {
      details: {sweeps: matching.map((one) => one.sweep)},
      hint: 'flexrack sweep list',
    })
  const near = nearestName(
    name,
    sweeps.map((one) => one.sweep),
  )
  throw new CliError('NOT_FOUND', `there is no sweep ${name}${near ? `; did you mean ${near}?` : ''}`, {
    hint: near ? `flexrack sweep show ${near}` : 'flexrack sweep list',
    details: {nearest: near},
  })
}
