import {sizeText} from '../../lib/base/index.ts'
import type {ServerGpu} from '../../lib/endpoint/index.ts'
import {bar} from '../terminal/render.ts'

const BAR = 10

/** How busy the GPU of a server is, and which; of several the busiest. */
export function gpuText(gpus: readonly ServerGpu[]): string {
  const [first, ...others] = [...gpus].sort((a, b) => b.busy - a.busy)
  if (!first) return ''
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return `${bar(first.busy, 0, BAR)} ${`${Math.round(100 * first.busy)} %`.padStart(5)} ${first.node}:${first.index}${more}`
}

/** What its leases have of memory, and what of that is used. */
export function leaseText(gpus: readonly ServerGpu[]): string {
  if (gpus.length === 0) return ''
  const sum = (key: 'used' | 'memory'): number => gpus.reduce((all, one) => all + one[key], 0)
  const [used, memory] = [sum('used'), sum('memory')]
  return `${bar(used / Math.max(1, memory), 0, BAR)} ${sizeText(used)} of ${sizeText(memory)}`
}
