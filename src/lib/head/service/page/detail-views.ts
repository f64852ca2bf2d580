import {nodeBody} from './node.ts'
import {originBody} from './origin.ts'
import type {Site, View} from './views.ts'

/** Nodes are probed for it: one who looks again gets what was seen lately. */
const NODE_MS = 30_000
const ORIGIN_MS = 10_000

/** How a node is wired. */
export function nodeView(path: readonly string[], _query: URLSearchParams, site: Site): View | undefined {
  const [node = ''] = path
  if (path.length !== 1 || node === '') return undefined
  const {topics, hands, view} = site
  const topic = topics.open(`${view} node ${node}`, NODE_MS, () => hands.askAny(view, 'topology', {node}))
  return {
    draw: async () => ({
      page: 'rack',
      title: node,
      body: nodeBody(await topic.need()),
      command: `flexrack rack show ${node} --topology`,
    }),
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
