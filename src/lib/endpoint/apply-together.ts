import {isCliError} from '../base/index.ts'
import {fromStep, type Plan, type Step} from '../plan/index.ts'
import {applyChange, planChange, type ChangeOutcome, type Prepare} from './change.ts'
import type {Site} from './site.ts'
import {Together} from './together.ts'

/** What is to be done with each endpoint, by its name. */
export type Changes = ReadonlyMap<string, Prepare>

/** A rack's endpoints. */
export interface RackChanges {
  site: Site
  changes: Changes
}

/**
 * Carries all changes out side by side; they switch at the same moment or not at all (Together). Gives the outcomes of each
 * rack. Errors: that of the endpoint which kept the others from it, with its name.
 */
export async function applyTogether(racks: readonly RackChanges[]): Promise<ChangeOutcome[][]> {
  const together = new Together(
    racks.map(({site, changes}) => ({rack: site.rack.name, head: site.head, endpoints: [...changes.keys()]})),
  )
  const settled = await Promise.all(
    racks.map(({site, changes}) => {
      const joint = together.at(site.rack.name)
      return Promise.allSettled(
        [...changes].map(([name, prepare]) =>
          applyChange(site, name, prepare, joint).catch((error: Error) => {
            joint.fail(name, error)
            throw error
          }),
        ),
      )
    }),
  )
  const errors = settled.flat().flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
  // Those that were ended for the sake of another say so in their cause.
  const first = errors.find((error) => !isEnded(error, together.signal.reason)) ?? errors[0]
  if (first) throw first
  return settled.map((rack) => rack.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
}

function isEnded(error: unknown, reason: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at === reason) return true
  return isCliError(error, 'INTERRUPTED') && reason !== undefined
}

/** Looks only: the steps of all, each with its endpoint's name, and its rack's where there are several; every switch waits for what the others have ready. */
export async function planTogether(racks: readonly RackChanges[], command: string): Promise<Plan> {
  const plans = await Promise.all(
    racks.flatMap(({site, changes}) =>
      [...changes].map(async ([name, prepare]) => ({
        name: racks.length > 1 ? `${name}@${site.rack.name}` : name,
        plan: await planChange(site, command, name, prepare),
      })),
    ),
  )
  const steps = plans.flatMap(({name, plan}) => plan.steps.map((step) => ofEndpoint(name, step)))
  const before = steps.filter(isSwitch).flatMap(({needs}) => needs)
  return {
    command,
    steps: steps.map((step) => (isSwitch(step) ? {...step, needs: [...new Set([...step.needs, ...before])]} : step)),
  }
}

function isSwitch({kind}: Step): boolean {
  return kind === 'endpoint.switch'
}

function ofEndpoint(endpoint: string, step: Step): Step {
  const own = (id: string): string => `${endpoint}/${id}`
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed)
    if (typeof value !== 'object' || value === null) return value
    const {$output: id, at} = value as {$output?: unknown; at?: string[]}
    if (typeof id === 'string') return fromStep(own(id), ...(at ?? []))
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, renamed(part)]))
  }
  return {...step, id: own(step.id), needs: step.needs.map(own), input: renamed(step.input) as Step['input']}
}
