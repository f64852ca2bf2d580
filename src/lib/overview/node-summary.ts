import type {NodeRun} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import {cachedListing} from '../runs/index.ts'
import {quote} from '../ssh/index.ts'
import type {NodeSummary} from './types.ts'

/**
 * One look at a Linux machine, with sh's own words wherever they do (32 nodes may be one machine): `name value...`
 * lines. proc(5): loadavg's first field is the average of one minute, stat's first line is user, nice, system, idle, iowait,
 * irq, softirq, steal, meminfo is in KiB; the NVIDIA driver has a folder
 * for each GPU.
 */
export function summaryScript({root}: Pick<RackNode, 'root'>): string {
  const below = root.replace(/^~(\/|$)/, '')
  const folder = root.startsWith('/') ? quote([root]) : below === '' ? '"$HOME"' : `"$HOME"/${quote([below])}`
  return [
    'read -r load rest </proc/loadavg && echo "load $load"',
    'read -r name ticks </proc/stat && echo "ticks $ticks"',
    'while read -r name value unit; do case $name in MemTotal:|MemAvailable:) echo "$name $value";; esac; done </proc/meminfo',
    'read -r online </sys/devices/system/cpu/online && echo "online $online"',
    'count() { n=0; for one in "$@"; do [ -d "$one" ] && n=$((n+1)); done; echo "$n"; }',
    'echo "gpus $(count /proc/driver/nvidia/gpus/*)"',
    `[ -f ${folder}/gpu/settings.json ] && echo "shares 1"`,
    // As PLACES of reservation/place.py.
    `for one in "$FLEXRACK_RESERVATIONS"/flexrack-reservations-*/*.json /run/lock/flexrack-reservations-*/*.json /tmp/flexrack-reservations-*/*.json ${folder}/reservations/*/*.json; do [ -f "$one" ] && echo 'reserved 1' && break; done`,
    cachedListing.script(folder),
    'df -Pk "$HOME" 2>/dev/null | while read -r device total used free rest; do echo "disk $total $free"; done',
  ].join('\n')
}

/**
 * What summaryScript printed. Lines that are missing or odd are null; `runs` is undefined where only Python can tell.
 * Pure.
 */
export function parseSummary(output: string): Omit<NodeSummary, 'node' | 'host' | 'ok' | 'gone'> & {
  runs: NodeRun[] | undefined
  shares: boolean
  reserved: boolean
} {
  const words = new Map(
    output
      .split('\n')
      .map((line) => line.trim().split(/[:\s]+/))
      .map(([name, ...rest]) => [name ?? '', rest] as const),
  )
  const number = (name: string, at = 0): number | null => {
    const value = Number(words.get(name)?.[at] ?? Number.NaN)
    return Number.isNaN(value) ? null : value
  }
  const pair = (first: number | null, second: number | null): [number, number] | null =>
    first === null || second === null ? null : [first * 1024, second * 1024]
  const memory = pair(number('MemAvailable'), number('MemTotal'))
  const disk = pair(number('disk', 1), number('disk'))
  return {
    cores: countOnline(words.get('online')?.[0]),
    load: number('load'),
    ticks: ticksOf(words.get('ticks')?.slice(0, 8).map(Number)),
    memory: memory && {available: memory[0], total: memory[1]},
    disk: disk && {free: disk[0], total: disk[1]},
    gpus: number('gpus') ?? 0,
    shares: number('shares') === 1,
    reserved: number('reserved') === 1,
    runs: cachedListing.read(output),
  }
}

/** Guests' time, behind these eight, is counted in user and nice already. Waiting for a disk is idle. */
function ticksOf(all: number[] | undefined): {busy: number; all: number} | null {
  if (all?.length !== 8 || all.some(Number.isNaN)) return null
  const sum = all.reduce((total, one) => total + one, 0)
  return {busy: sum - (all[3] ?? 0) - (all[4] ?? 0), all: sum}
}

/** Processors in the kernel's list format: `0-3,8` are five. */
function countOnline(list: string | undefined): number | null {
  const counts = list?.split(',').map((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return (last ?? Number.NaN) - (first ?? Number.NaN) + 1
  })
  const total = counts?.reduce((sum, one) => sum + one, 0)
  return total === undefined || Number.isNaN(total) ? null : total
}
