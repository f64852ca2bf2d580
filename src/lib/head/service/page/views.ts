import type {PageRack} from '../../types.ts'
import type {Parts} from '../parts.ts'
import type {Hands} from './hands.ts'
import type {Drawn} from './layout.ts'
import {
  auditView,
  dataView,
  endpointsView,
  idleView,
  modelsView,
  notebooksView,
  peopleView,
  sweepsView,
} from './list-views.ts'
import {liveParts, type LiveParts} from './live.ts'
import {LINE_LOOKS, rackBody, rackParts, type RackSeen} from './rack.ts'
import {nodeView, originView} from './detail-views.ts'
import {compareView, runsView} from './run-views.ts'
import type {PageUser} from './seen.ts'
import type {Tail} from './tail.ts'
import type {Seen, Topic, Topics} from './topics.ts'

/** Who looks, and what of the head the pages are made of. */
export interface Site {
  login: string
  /** Those that see the same share what is looked up. */
  view: string
  rack: string
  /** All that its `head ui` has open. */
  racks: readonly string[]
  owner: string
  /** May change something. */
  may: boolean
  /** Whose page it is, where that is no admin. */
  user: PageUser | undefined
  /** The rack is one person's: it has no users, projects or quotas. */
  alone: boolean
  parts: Parts
  hands: Hands
  topics: Topics
  tails: Map<string, Tail>
  /** Logins that wait for an endpoint's answer. */
  trying: Set<string>
  /** The login goes on. */
  isOpen(): boolean
}

/** One address of the page. */
export interface View {
  draw(): Promise<Drawn>
  /** What of it changes. */
  live?: LiveParts
  /** The log that it shows, as it grows. */
  tail?: () => Tail
}

/** At most so often: who looks says how long that takes (src/lib/page/answers.ts). */
const RACK_MS = 1000

/** The view at an address of the page (path and query); undefined where there is none. */
export function openView(page: string, site: Site): View | undefined {
  const url = URL.parse(page, 'http://head')
  if (!url?.pathname.startsWith('/flexrack/ui/')) return undefined
  const path = pathOf(page)
  const open = VIEWS[path[0] ?? '']
  return open?.(path.slice(1), url.searchParams, site)
}

/** The parts of a path below the page's. */
export function pathOf(page: string): string[] {
  const path = (page.split('?', 1)[0] ?? '').slice('/flexrack/ui/'.length)
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return ['-']
  }
}

type Open = (path: string[], query: URLSearchParams, site: Site) => View | undefined

const VIEWS: Readonly<Record<string, Open>> = {
  '': rackView,
  nodes: nodeView,
  why: originView,
  runs: runsView,
  compare: compareView,
  sweeps: sweepsView,
  endpoints: endpointsView,
  models: modelsView,
  idle: idleView,
  notebooks: notebooksView,
  data: dataView,
  people: peopleView,
  audit: auditView,
}

function rackView(_path: string[], _query: URLSearchParams, site: Site): View {
  const topic = rackTopic(site)
  const seen = (one: Seen<RackLook>): RackSeen => ({
    rack: one.value?.rack,
    busy: one.value?.busy ?? new Map<string, never>(),
    at: one.at,
    error: one.error,
  })
  return {
    draw: async () => ({
      page: 'rack',
      title: 'Rack',
      body: rackBody(seen(await topic.fresh()), Date.now()),
      command: 'flexrack top',
      isLive: true,
      again: 5,
    }),
    live: liveParts(topic, (one) => rackParts(seen(one), Date.now())),
  }
}

interface RackLook {
  rack: PageRack
  busy: Map<string, (number | null)[]>
}

function rackTopic(site: Site): Topic<RackLook> {
  const {hands, topics, view} = site
  const busy = new Map<string, (number | null)[]>()
  return topics.open(`${view} rack`, RACK_MS, async () => {
    const rack = await hands.askAny(view, 'rack', {})
    for (const node of rack.nodes) busy.set(node.name, [...(busy.get(node.name) ?? []), node.busy].slice(-LINE_LOOKS))
    return {rack, busy}
  })
}
