import type {Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import {openStore} from './open.ts'
import type {ShownVersion} from './text.ts'

/**
 * Versions of one data set or of all: those here, and with `hosts` also where else they are, and which only nodes have.
 * Newest first.
 */
export async function shownVersions(
  name: string | undefined,
  hosts: Host[],
  context: Context,
): Promise<ShownVersion[]> {
  const store = await openStore(context)
  const names = name === undefined ? await store.names() : [name]
  const here = (await Promise.all(names.map((one) => store.versions(one)))).flat()
  const found = new Map<string, ShownVersion>()
  for (const {name: own, digest, at, source, files, bytes} of here)
    found.set(`${own}@${digest}`, {
      name: own,
      digest,
      at: new Date(at * 1000).toISOString(),
      source,
      files: files.length,
      bytes,
      nodes: [],
      runs: [],
    })
  const lists = await Promise.all(
    hosts.map(async (host) => ({host, list: await host.call('data.list', null, {signal: context.signal})})),
  )
  for (const {host, list} of lists) {
    for (const {name: own, digest, files, bytes, runs} of list.versions) {
      if (name !== undefined && own !== name) continue
      const key =
        [...found.keys()].find((one) => one === `${own}@${digest}`) ??
        [...found.keys()].find((one) => one.endsWith(`@${digest}`)) ??
        `${own}@${digest}`
      const one = found.get(key) ?? {name: own, digest, at: null, source: null, files, bytes, nodes: [], runs: []}
      one.nodes.push(host.node)
      one.runs = [...new Set([...one.runs, ...runs])]
      found.set(key, one)
    }
  }
  return [...found.values()]
}
