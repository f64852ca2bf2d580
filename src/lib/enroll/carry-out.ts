import type {Context} from '../base/index.ts'
import {reportsOf, throwIfAnyFailed} from '../nodes/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf} from '../plan/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {addNodes} from './add.ts'
import {removeRack, takeOut} from './remove.ts'

export type EnrollKinds = {
  /** A host key is verified or, with the fleet's trustNew, recorded. The output: what the node calls itself. */
  'node.connect': {input: {node: string; host: string}; output: string}
  'rack.add': {input: {path: string; nodes: RackNode[]}; output: Rack}
  /** `force`: even the node of the head. The output: what is left. */
  'rack.take-out': {input: {path: string; nodes: string[]; force: boolean}; output: Rack}
  'rack.remove': {input: {path: string}; output: void}
}

export interface EnrollEnv {
  /** Needed by steps that connect. */
  fleet: Fleet | undefined
  ctx: Context
}

export const ENROLL_HANDLERS: Handlers<EnrollKinds, EnrollEnv> = {
  'node.connect': connect,
  'rack.add': addNodes,
  'rack.take-out': takeOut,
  'rack.remove': removeRack,
}

/**
 * Carries out what planAdd or planRemove has planned. Returns the rack as it is then; undefined where it is gone.
 * Errors: those of nodes, CONFLICT, RACK_INVALID, LOCKED.
 */
export async function carryOut(plan: PlanOf<EnrollKinds>, env: EnrollEnv): Promise<Rack | undefined> {
  const outcomes = await executePlan(plan, ENROLL_HANDLERS, env, env.ctx)
  const greeted = reportsOf(outcomes.filter((one) => one.step.kind === 'node.connect'))
  // The same command records a new host key; the hint of every other command is to look first.
  throwIfAnyFailed(greeted.map((one) => (one.code === 'HOST_KEY_UNKNOWN' ? {...one, hint: '--trust'} : one)))
  throwIfFailed(outcomes)
  return [
    ...valuesOf<EnrollKinds, 'rack.add'>(outcomes, 'rack.add'),
    ...valuesOf<EnrollKinds, 'rack.take-out'>(outcomes, 'rack.take-out'),
  ][0]
}

async function connect({node}: {node: string}, _done: unknown, {fleet, ctx}: EnrollEnv): Promise<string> {
  const progress = ctx.reporter.begin('Connect', node)
  try {
    const name = (await (await (fleet as Fleet).shell(node)).run('uname -n', {signal: ctx.signal})).trim()
    progress.done()
    return name
  } catch (error) {
    progress.fail()
    throw error
  }
}
