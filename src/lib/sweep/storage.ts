import {CliError, type Context} from '../base/index.ts'
import {nearestName} from '../document/index.ts'
import {openHeadHost} from '../head/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Sweep} from './types.ts'

/** Where sweeps are kept: the rack's head node. */
export interface SweepPlace {
  rack: Rack
  fleet: Fleet
  /** Only sweeps of this project are meant where none is named. */
  project?: string | undefined
}

/** Sweeps, newest first. Needs neither Optuna nor a head that runs. */
export async function listSweeps({rack, fleet, project}: SweepPlace, options: {all: boolean}, context: Context): Promise<Sweep[]> {
  const host = await openHeadHost(rack, fleet, context)
  return host.call<Sweep[]>('sweep.list', options.all || project === undefined ? {} : {project}, {signal: context.signal})
}

/**
 * The sweep that is meant: by id, by the beginning of an id, or the newest (of the project). Errors: NOT_FOUND with the nearest id, CONFLICT for
 * a beginning that fits several.
 */
export async function findSweep(place: SweepPlace, name: string | undefined, context: Context): Promise<Sweep> {
  const sweeps = await listSweeps(place, {all: true}, context)
  if (name === undefined) {
    const own = sweeps.find((one) => place.project === undefined || one.project === place.project)
    if (own) return own
    throw new CliError('NOT_FOUND', `there is no sweep${place.project === undefined ? '' : ` of ${place.project}`} yet`, {hint: 'flexrack sweep'})
  }
  const matching = sweeps.filter((one) => one.sweep === name)
  if (matching.length === 0) matching.push(...sweeps.filter((one) => one.sweep.startsWith(name)))
  if (matching.length === 1 && matching[0]) return matching[0]
  if (matching.length > 1) throw new CliError('CONFLICT', `${matching.length} sweeps begin with ${name}`, {details: {sweeps: matching.map((one) => one.sweep)}, hint: 'flexrack sweep list'})
  const near = nearestName(name, sweeps.map((one) => one.sweep))
  throw new CliError('NOT_FOUND', `there is no sweep ${name}${near ? `; did you mean ${near}?` : ''}`, {hint: near ? `flexrack sweep show ${near}` : 'flexrack sweep list', details: {nearest: near}})
}
