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
import {rackBody, rackParts} from './rack.ts'
import {rackSeen, rackTopic} from './rack-look.ts'
import {nodeView, originView} from './detail-views.ts'
import {compareView, runsView} from './run-views.ts'
import type {PageUser} from './seen.ts'
import type {Tail} from './tail.ts'
import type {Topics} from './topics.ts'

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
  return {
    draw: async () => ({
      page: 'rack',
      title: 'Rack',
      body: rackBody(rackSeen(await topic.fresh()), Date.now()),
      command: 'flexrack top',
      isLive: true,
      again: 15,
    }),
    live: liveParts(topic, (one) => rackParts(rackSeen(one), Date.now())),
  }
}
