import type {RunSpec} from '../../lib/train/index.ts'
import {paint} from '../terminal/print.ts'
import {table} from '../terminal/render.ts'

/** Which GPUs, CPUs, memory and card each rank gets, and why each node of the rack was taken or not. */
export function placementText({placements, chosen}: Pick<RunSpec, 'placements' | 'chosen'>): string {
  const rows = placements.flatMap(({node, placed = []}) =>
    placed.map((one) => ({
      node: node.name,
      rank: String(one.rank),
      gpus:
        (one.leased
          ? one.leased.map((gpu) => `GPU${gpu.index} of ${gpu.node}`)
          : one.gpus.map((gpu) => `GPU${gpu.index}`)
        ).join(', ') || 'none',
      cpus: one.cpus ?? paint.dim('not bound'),
      memory: one.memory.length > 0 ? `NUMA ${one.memory.join(', ')}` : paint.dim('not bound'),
      card:
        one.nic === null
          ? paint.dim('not known')
          : `${one.nic.name} (${one.nic.why === 'route' ? 'on the route' : 'nearest'})`,
    })),
  )
  const why = (chosen?.reasons ?? []).map(
    ({node, taken, why}) => `${taken ? paint.green('+') : paint.dim('-')} ${node}: ${why}`,
  )
  const waits = chosen?.waits ? [paint.yellow('Not enough is free now: the run stands in line for these.')] : []
  return [...waits, table(rows, ['node', 'rank', 'gpus', 'cpus', 'memory', 'card']), ...why].join('\n')
}
