import {hostOf, type Site} from './site.ts'
import {warnOfReboot} from '../reboot/index.ts'
import {listRecords} from './store.ts'
import {nodesOf} from './document.ts'
import {needsAgent} from './scaling.ts'

const TTL_SECONDS = 90 * 24 * 3600

/**
 * Has a node's agent ask this rack's head what is to run there. It gets a token of its own, which opens that one
 * question; the head lets it live on while it is used.
 */
export async function joinAgent(site: Site, node: string): Promise<void> {
  const host = await hostOf(site, node)
  const url = site.head.nodeUri
  if ((await host.call('serving.find', {url, node})).joined) return
  const {token} = await site.head.request<{token: string}>('POST', '/flexrack/v1/tokens', {
    kind: 'node',
    node,
    ttl_seconds: TTL_SECONDS,
  })
  const {comes_back: comesBack} = await host.call('serving.join', {url, node, token, ca: site.head.nodeCa ?? null})
  warnOfReboot(node, 'its agent', comesBack, site.context)
}

/** Ends the agent of a node, unless another endpoint needs it there. */
export async function endAgent(site: Site, node: string, except: string): Promise<void> {
  const others = (await listRecords(site.head)).filter(({document}) => document.name !== except)
  const isNeeded = others.some(({document}) => document.releases.some(needsAgent) && nodesOf(document).includes(node))
  if (isNeeded) return
  const {stopped} = await (await hostOf(site, node)).call('serving.leave', {})
  if (stopped) await site.head.request('DELETE', `/flexrack/v1/agents/${encodeURIComponent(node)}`)
}
