import type {Lane} from '../releases/way.ts'
import type {Traffic} from '../gateway/traffic.ts'
import type {Choice} from './queues.ts'
import type {TargetHealth} from './target-health.ts'

/**
 * A target for a request, of the first release that has one: the least loaded, among those it was not tried at where
 * there is one. A release whose servers are all busy is waited for; one that takes no connections gives way to the next.
 * `tried` decides only between targets, not whether there is one.
 */
export function chooseTarget(
  lanes: Lane[],
  {traffic, health}: {traffic: Traffic; health: TargetHealth},
  tried: ReadonlySet<string>,
  concurrency: number,
): Choice {
  let again: {release: string; targets: string[]} | undefined
  for (const {release, targets} of lanes) {
    const connected = targets.filter((target) => health.isOpen(target))
    if (connected.length === 0) continue
    const well = connected.filter((target) => !health.outliers.isOut(target))
    // Where those that are well have gone, one that failed is better than none.
    const open = well.length > 0 ? well : connected
    const free = open.filter((target) => traffic.underWay(target) < concurrency)
    if (free.length === 0 && !again) return {waits: 'busy'}
    const fresh = tried.size === 0 ? free : free.filter((target) => !tried.has(target))
    if (fresh.length > 0) return {release, target: traffic.choose(fresh)!}
    if (free.length > 0) again ??= {release, targets: free}
  }
  return again ? {release: again.release, target: traffic.choose(again.targets)!} : {waits: 'down'}
}
