import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {executePlan, throwIfFailed, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import type {Lease} from './types.ts'

export type ReleaseKinds = {'gpu.release': {input: {node: string; lease: string}; output: void}}

export interface ReleaseEnv {
  host(node: string): Promise<Host>
  context: Context
}

export const RELEASE_HANDLERS: Handlers<ReleaseKinds, ReleaseEnv> = {
  'gpu.release': async ({node, lease}, _done, {host, context}) =>
    void (await (await host(node)).call('gpu.release', {lease}, {signal: context.signal})),
}

/** What ending these leases does. Pure. */
export function releasePlan(leases: Lease[]): PlanOf<ReleaseKinds> {
  return {
    command: 'gpu release',
    steps: leases.map((one): StepOf<ReleaseKinds> => ({
      id: `release:${one.lease}`,
      node: one.node,
      kind: 'gpu.release',
      needs: [],
      input: {node: one.node, lease: one.lease},
      title: `End ${whose(one)}${one.programs > 0 ? `, with ${programsOf(one)} at work` : ''}`,
    })),
  }
}

/** `lease 3f9a0b12 of ann (notebook)`. */
export function whose({lease, owner, purpose}: Lease): string {
  return `lease ${lease.slice(0, 8)} of ${owner}${purpose ? ` (${purpose})` : ''}`
}

export function programsOf({programs}: Lease): string {
  return `${programs} program${programs === 1 ? '' : 's'}`
}

/** Ends them. Errors: as throwIfFailed. */
export async function releaseFound(leases: Lease[], env: ReleaseEnv): Promise<Lease[]> {
  throwIfFailed(await executePlan(releasePlan(leases), RELEASE_HANDLERS, env, env.context))
  return leases
}
