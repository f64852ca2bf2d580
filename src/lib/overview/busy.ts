import type {NodeSummary} from './types.ts'

/** Share of the processors' time that was used between two looks, 0..1; null where it is not known. */
export function busyShare(now: NodeSummary, before: NodeSummary | undefined): number | null {
  if (!now.ticks || !before?.ticks) return null
  const all = now.ticks.all - before.ticks.all
  // A node that was rebooted counts from the beginning again.
  return all > 0 ? Math.min(1, Math.max(0, (now.ticks.busy - before.ticks.busy) / all)) : null
}
