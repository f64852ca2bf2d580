import {address, html, type Html} from './html.ts'
import {warning} from './layout.ts'
import {liveParts} from './live.ts'
import {nodeBody} from './node.ts'
import {nodeNow} from './node-now.ts'
import {originBody} from './origin.ts'
import {rackTopic, type RackLook} from './rack-look.ts'
import type {Seen} from './topics.ts'
import type {Site, View} from './views.ts'

/** Nodes are probed for it: one who looks again gets what was seen lately. */
const NODE_MS = 30_000
const ORIGIN_MS = 10_000

/** What a node does now, and how it is wired. */
export function nodeView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  const [node = ''] = path
  if (path.length !== 1 || node === '') return undefined
  const {topics, hands, view} = site
  const topic = topics.open(`${view} node ${node}`, NODE_MS, () => hands.askAny(view, 'topology', {node}))
  const rack = rackTopic(site)
  const now = (seen: Seen<RackLook>): Html => nodeNow(node, seen, Date.now())
  return {
    draw: async () => {
      const [seen, wiring] = await Promise.all([
        rack.fresh(),
        topic.need().then(
          (value) => nodeBody(value),
          (error: Error) => error,
        ),
      ])
      const isThere = seen.value?.rack.nodes.some((one) => one.name === node) ?? false
      if (wiring instanceof Error && !isThere) throw wiring
      // A node that does not answer is shown all the same: what it was, and why.
      const wired = wiring instanceof Error ? warning(wiring.message) : wiring
      return {
        page: 'rack',
        title: node,
        body: html`<div class="title">
            <h1>${node}</h1>
            <span class="act"><a class="button" href="${address([])}">The rack</a></span>
          </div>
          ${now(seen)} ${wired}`,
        command: `flexrack rack show ${node} --topology`,
        isLive: true,
        again: 30,
      }
    },
    live: liveParts(rack, (seen) => ({now: now(seen)})),
  }
}

/** Where an endpoint, a run or a model comes from: `why/run/digits-k3x9a`, `why/model/digits/3`. */
export function originView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  const [kind = '', ...rest] = path
  const page = PAGES[kind]
  if (!page || rest.length === 0 || rest.length > (kind === 'model' ? 2 : 1) || rest.includes('')) return undefined
  const {topics, hands, view} = site
  const name = path.join('/')
  const topic = topics.open(`${view} why ${name}`, ORIGIN_MS, () => hands.askAny(view, 'why', {name}))
  return {
    draw: async () => ({
      page,
      title: `Where ${rest.join('/')} comes from`,
      body: originBody(name, await topic.need()),
      command: `flexrack why ${name}`,
    }),
  }
}

const PAGES = {endpoint: 'endpoints', run: 'runs', model: 'models'} as Readonly<
  Record<string, 'endpoints' | 'runs' | 'models'>
>
