import type {PageRack} from '../../types.ts'
import {LINE_LOOKS, type RackSeen} from './rack.ts'
import type {Seen, Topic} from './topics.ts'
import type {Site} from './views.ts'

/** At most so often: who looks says how long that takes (src/lib/page/answers.ts). */
const RACK_MS = 1000

export interface RackLook {
  rack: PageRack
  busy: Map<string, (number | null)[]>
}

/** The nodes, looked at once for all pages that show them. */
export function rackTopic({hands, topics, view}: Site): Topic<RackLook> {
  const busy = new Map<string, (number | null)[]>()
  return topics.open(`${view} rack`, RACK_MS, async () => {
    const rack = await hands.askAny(view, 'rack', {})
    for (const node of rack.nodes) busy.set(node.name, [...(busy.get(node.name) ?? []), node.busy].slice(-LINE_LOOKS))
    return {rack, busy}
  })
}

export function rackSeen({value, at, error}: Seen<RackLook>): RackSeen {
  return {rack: value?.rack, busy: value?.busy ?? new Map<string, never>(), at, error}
}
