import type {Link, LinkKind} from './types.ts'

/** From the fastest: how much of the machine a transfer has to cross. A group is as good as its worst link. */
const ORDER: readonly LinkKind[] = ['nvlink', 'switch', 'switches', 'bridge', 'socket', 'system', 'unknown']
const CELLS: Readonly<Record<string, LinkKind>> = {
  PIX: 'switch',
  PXB: 'switches',
  PHB: 'bridge',
  NODE: 'socket',
  SYS: 'system',
}

/** A cell of nvidia-smi's matrix as a link. */
export function parseLink(cell: string | null | undefined): Link {
  const count = /^NV(\d+)$/.exec(cell ?? '')?.[1]
  return count === undefined ? {kind: CELLS[cell ?? ''] ?? 'unknown'} : {kind: 'nvlink', count: Number(count)}
}

/**
 * The better a link, the higher: NVLinks by their number, then one switch, several, one host bridge, one socket, across
 * sockets, unknown (0).
 */
export function linkRank({kind, count = 0}: Link): number {
  const steps = ORDER.length - 1 - ORDER.indexOf(kind)
  return kind === 'nvlink' ? steps + count : steps
}

/** In nvidia-smi's words, which people know: `NV18`, `PIX`; `?` where it is not known. */
export function linkText({kind, count = 0}: Link): string {
  if (kind === 'nvlink') return `NV${count}`
  return Object.entries(CELLS).find(([, one]) => one === kind)?.[0] ?? '?'
}
