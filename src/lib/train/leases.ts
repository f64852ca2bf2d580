import {CliError, isCliError, type Context} from '../base/index.ts'
import {leaseForRun, type HeldLeases, type RunLeases} from '../gpu/index.ts'
import type {Host} from '../host/index.ts'
import type {LeasedGpu} from '../placement/index.ts'
import type {Step} from '../plan/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {RunSpec} from './types.ts'

/** A step for each node whose ranks get leases of GPU daemons. Pure. */
export function leaseSteps(spec: RunSpec, before: Step[]): Step[] {
  return spec.placements.flatMap(({node}) => {
    const devices = leasedOn(spec, node.name).flat()
    if (devices.length === 0) return []
    const what = [...Map.groupBy(devices, (one) => one.node)].map(([from, own]) => `${own.map((one) => `GPU${one.index}`).join(', ')} of ${from}`)
    return [{id: `lease:${node.name}`, node: node.name, kind: 'train.lease', title: `Lease ${what.join('; ')}`, input: {devices}, needs: before.map((step) => step.id)}]
  })
}

/** Takes them. Errors: those of leaseForRun; RESERVED where somebody was quicker, so that the run is placed once more. */
export async function takeRunLeases(spec: RunSpec, step: Step, host: Host, place: {rack: Rack; fleet: Fleet}, live: {leases?: RunLeases[]}, context: Context): Promise<HeldLeases> {
  try {
    const taken = await leaseForRun(place, {host, ranks: leasedOn(spec, host.node), wish: spec.leased as NonNullable<RunSpec['leased']>, run: spec.run}, context)
    live.leases = [...(live.leases ?? []), taken]
    return taken.held
  } catch (error) {
    if (!isCliError(error, 'GPU_UNAVAILABLE')) throw error
    throw new CliError('RESERVED', error.message, {hint: 'flexrack gpu leases', details: error.details, cause: error})
  }
}

function leasedOn({placements}: RunSpec, node: string): LeasedGpu[][] {
  return (placements.find((one) => one.node.name === node)?.placed ?? []).flatMap((rank) => (rank.leased ? [rank.leased] : []))
}
