import {activeRelease, type Release} from './document.ts'
import {hostOf, type Site} from './site.ts'
import {requireEndpoint} from './store.ts'

/** Of a node that serves a release: whether the model's files are there as the release says. They are read. */
export interface ServedFiles {
  node: string
  whole: boolean
}

/** The release that serves; undefined where none does. Errors: NOT_FOUND. */
export async function servedRelease(site: Site, name: string): Promise<Release | undefined> {
  return activeRelease((await requireEndpoint(site.head, name)).document)
}

/** The model files of the active release on each of its nodes, hashed there. Errors: NOT_FOUND, those of connecting. */
export async function servedFiles(site: Site, name: string): Promise<ServedFiles[]> {
  const release = await servedRelease(site, name)
  if (!release) return []
  const nodes = [...new Set(release.replicas.map((one) => one.node))]
  return Promise.all(
    nodes.map(async (node) => {
      const host = await hostOf(site, node)
      const question = {name, release: release.id, files: release.model.files}
      return {node, whole: (await host.call('endpoint.check', question, {signal: site.context.signal})).complete}
    }),
  )
}
