import {CliError, isCliError} from '../../base/index.ts'
import {leaseForRun, type RunLeases} from '../../gpu/index.ts'
import type {RunSpec} from '../types.ts'
import type {LeaseInput, TrainEnv, TrainStep} from './types.ts'

/** A step for each node whose ranks get leases of GPU daemons. Pure. */
export function leaseSteps({run, placements, leased}: RunSpec): TrainStep[] {
  return placements.flatMap(({node: {name: node}, placed}): TrainStep[] => {
    const devices = (placed ?? []).flatMap((rank) => (rank.leased ? [rank.leased] : []))
    if (devices.flat().length === 0 || !leased) return []
    const what = [...Map.groupBy(devices.flat(), (one) => one.node)].map(
      ([from, own]) => `${own.map((one) => `GPU${one.index}`).join(', ')} of ${from}`,
    )
    return [
      {
        id: `lease:${node}`,
        node,
        kind: 'train.lease',
        title: `Lease ${what.join('; ')}`,
        input: {node, run, devices, wish: leased},
        needs: [],
      },
    ]
  })
}

/** Errors: those of leaseForRun; RESERVED where somebody was quicker, so that the run is placed once more. */
export async function lease(
  {node, run, devices, wish}: LeaseInput,
  _done: unknown,
  {rack, fleet, host, context}: TrainEnv,
): Promise<RunLeases> {
  try {
    return await leaseForRun({rack, fleet}, {host: await host(node), ranks: devices, wish, run}, context)
  } catch (error) {
    if (!isCliError(error, 'GPU_UNAVAILABLE')) throw error
    throw new CliError('RESERVED', error.message, {hint: 'flexrack gpu leases', details: error.details, cause: error})
  }
}
