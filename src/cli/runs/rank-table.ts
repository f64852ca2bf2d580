import type {RankRecord} from '../../lib/protocol/index.ts'
import {duration, table, type Column} from '../terminal/render.ts'

/** So much of a GPU's UUID is shown: enough to find it in `nvidia-smi -L`. */
const UUID_LETTERS = 12

/**
 * Every rank of every attempt; what it was bound to, where that was chosen for some. Of a run that `isOver` a rank
 * without an end went with its node.
 */
export function rankTable(ranks: (RankRecord & {attempt?: number})[], isOver = false): string {
  const isBound = ranks.some((rank) => rank.bound)
  const hasGpus = ranks.some((rank) => (rank.bound?.gpus ?? []).length > 0)
  const rows = ranks.map((rank) => ({
    attempt: String(rank.attempt ?? 1),
    rank: String(rank.rank),
    node: rank.node,
    exit:
      rank.exit === undefined ? (isOver ? 'lost' : 'running') : rank.signal ? `SIG${rank.signal}` : String(rank.exit),
    duration: rank.ended === undefined ? '-' : duration((rank.ended - rank.started) * 1000),
    gpus:
      (rank.bound?.gpus ?? []).map((gpu) => (gpu.startsWith('GPU-') ? gpu.slice(0, UUID_LETTERS) : gpu)).join(', ') ||
      '-',
    cpus: rank.bound?.cpus ?? '-',
    memory: rank.bound?.memory ?? '-',
  }))
  const columns: (string | Column)[] = [
    'attempt',
    'rank',
    'node',
    'exit',
    {key: 'duration', align: 'right'},
    ...(hasGpus ? ['gpus'] : []),
    ...(isBound ? ['cpus', 'memory'] : []),
  ]
  return table(rows, columns)
}
