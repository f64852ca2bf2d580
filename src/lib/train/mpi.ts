import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'

/** The launcher asks for parameters by the names of this major version. */
const MAJOR = '4'
export const MPI_INSTALL = 'sudo apt-get install openmpi-bin'

/**
 * Before anything is changed: every node has an mpirun that we can drive. Errors: NODE_UNFIT with all nodes that have
 * not.
 */
export async function requireMpi(hosts: Host[], context: Context): Promise<void> {
  const found = await Promise.all(
    hosts.map(async (host) => ({node: host.node, ...(await host.call('mpi.inspect', {}, {signal: context.signal}))})),
  )
  const without = found.filter((one) => one.version === null).map((one) => one.node)
  if (without.length > 0) {
    throw new CliError(
      'NODE_UNFIT',
      `train.launcher is mpi, and ${without.join(', ')} ${without.length === 1 ? 'has' : 'have'} no Open MPI (mpirun)`,
      {hint: `${MPI_INSTALL}   (on ${without.join(', ')})`, details: {nodes: without}},
    )
  }
  const other = found.find((one) => one.version?.split('.')[0] !== MAJOR)
  if (other)
    throw new CliError(
      'NODE_UNFIT',
      `${other.node} has Open MPI ${other.version}, and the launcher mpi knows version ${MAJOR} only`,
      {hint: `${MPI_INSTALL}   (on ${other.node}), or train.launcher: torchrun`, details: {nodes: [other.node]}},
    )
}
