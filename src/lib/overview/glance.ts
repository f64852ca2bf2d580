import type {NodeGlance} from './types.ts'

/**
 * One look at a Linux machine in a few milliseconds, with sh alone: `name value...` lines. proc(5): loadavg's first field is
 * the average of one minute, meminfo is in KiB; the NVIDIA driver has a folder for each GPU.
 */
export const GLANCE_SCRIPT = [
  'read -r load rest </proc/loadavg && echo "load $load"',
  "awk '/^MemTotal:|^MemAvailable:/ {print $1, $2}' /proc/meminfo",
  'echo "cores $(getconf _NPROCESSORS_ONLN)"',
  `df -Pk "$HOME" 2>/dev/null | awk 'NR == 2 {print "disk", $2, $4}'`,
  'echo "gpus $(ls /proc/driver/nvidia/gpus 2>/dev/null | wc -l)"',
].join('\n')

/** What GLANCE_SCRIPT printed. Lines that are missing or odd are null. Pure. */
export function parseGlance(output: string): Omit<NodeGlance, 'node' | 'host' | 'ok'> {
  const values = new Map(output.split('\n').map((line) => line.trim().split(/[:\s]+/)).map(([name, ...rest]) => [name ?? '', rest.map(Number)] as const))
  const number = (name: string, at = 0): number | null => {
    const value = values.get(name)?.[at]
    return value === undefined || Number.isNaN(value) ? null : value
  }
  const pair = (first: number | null, second: number | null): [number, number] | null => (first === null || second === null ? null : [first * 1024, second * 1024])
  const memory = pair(number('MemAvailable'), number('MemTotal'))
  const disk = pair(number('disk', 1), number('disk'))
  return {
    cores: number('cores'),
    load: number('load'),
    memory: memory && {available: memory[0], total: memory[1]},
    disk: disk && {free: disk[0], total: disk[1]},
    gpus: number('gpus') ?? 0,
  }
}
