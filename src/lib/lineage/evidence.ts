import {createHash} from 'node:crypto'
import {basename} from 'node:path'
import type {Readable} from 'node:stream'
import {MOST_ENVELOPE, readAttested, statementPath} from '../attest/index.ts'
import {CliError, isCliError, type Context} from '../base/index.ts'
import {DataStore} from '../data/index.ts'
import type {Endpoints} from '../endpoint/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Mlflow} from '../tracking/index.ts'
import {Tracked} from './tracked.ts'
import type {Evidence} from './types.ts'

export interface EvidencePlace {
  rack: Rack
  fleet: Fleet
  mlflow: Mlflow
  /** The other projects' workspaces that are open to who asks, and the default one. */
  elsewhere?: () => Promise<Mlflow[]>
  endpoints: Endpoints
  /** An allowed_signers file; undefined: who has signed something is not known. */
  signers?: string
}

/** What endpoints, registry, tracking server, this machine and the nodes say. */
export function evidenceOf(place: EvidencePlace, context: Context): Evidence {
  const {rack, fleet, endpoints, signers} = place
  const tracked = new Tracked(place.mlflow, place.elsewhere)
  return {
    async release(name) {
      const release = await ifThere(() => endpoints.serving(name))
      return release && {...release, nodes: [...new Set(release.replicas.map((one) => one.node))]}
    },
    served: (name) => endpoints.servedFiles(name),
    version: (name, version, fits) => tracked.version({name, ...(version !== undefined && {version})}, fits),
    async versionFiles(version) {
      const mlflow = tracked.homeOf(version)
      const uri = await mlflow.versionUri(version.name, version.version)
      const slash = uri.lastIndexOf('/')
      const [folder, name] = [uri.slice(0, slash), uri.slice(slash + 1)]
      const isFile = (await mlflow.listStored(folder)).some((one) => one.path === name && !one.isFolder)
      const base = isFile ? folder : uri
      const paths = isFile ? [name] : (await mlflow.walkStored(uri)).map((one) => one.path)
      const found = new Map<string, string>()
      for (const path of paths)
        found.set(isFile ? basename(path) : path, await hashOf(await mlflow.openStored(base, path)))
      return found
    },
    run: (name) => tracked.run(name),
    artifact: async (run, path, most) => {
      const stream = await ifThere(() => tracked.homeOf(run.id).openArtifact(run.id, path))
      return stream && readAll(stream, path, most)
    },
    async attested(version) {
      if (version.runId === undefined) return undefined
      const stream = await ifThere(() =>
        tracked.homeOf(version).openArtifact(version.runId as string, statementPath(version.name, version.version)),
      )
      return stream && readAttested(await readAll(stream, 'the signed statement', MOST_ENVELOPE), signers)
    },
    data: (name, digest) => lookAtData({rack, fleet}, name, digest, context),
    image: (digest, nodes) => lookAtImage({rack, fleet}, digest, nodes, context),
  }
}

/** This machine's copy counts; where it has none, that of any node. */
async function lookAtData(
  place: Pick<EvidencePlace, 'rack' | 'fleet'>,
  name: string,
  digest: string,
  context: Context,
): Promise<string | undefined> {
  const store = new DataStore(context)
  const own = await ifThere(() => store.find(`${name}@${digest}`))
  if (own) {
    const [bad] = await store.verify(own)
    return bad === undefined ? undefined : `${bad} of it is another one on this machine`
  }
  for (const {name: node} of place.rack.nodes) {
    const found = await onNode(place, node, context, async (host) => {
      const {versions} = await host.call('data.list', {digest}, {signal: context.signal})
      if (versions.length === 0) return undefined
      return host.call('data.verify', {digest}, {signal: context.signal})
    })
    if (found) return found.bad.length === 0 ? undefined : `${found.bad[0]} of it is another one on ${node}`
  }
  return 'neither this machine nor a node that answers has it any more'
}

async function lookAtImage(
  place: Pick<EvidencePlace, 'rack' | 'fleet'>,
  digest: string,
  nodes: string[],
  context: Context,
): Promise<string | undefined> {
  for (const node of nodes) {
    const found = await onNode(place, node, context, (host) => host.call('image.list', null, {signal: context.signal}))
    if (found?.some((one) => one.digest === digest)) return undefined
  }
  return `none of ${nodes.join(', ')} has it any more`
}

/** Undefined where the rack has no such node, or it does not answer, which is told. */
async function onNode<T>(
  {rack, fleet}: Pick<EvidencePlace, 'rack' | 'fleet'>,
  name: string,
  context: Context,
  ask: (host: Host) => Promise<T>,
): Promise<T | undefined> {
  const node = rack.nodes.find((one) => one.name === name)
  if (!node) return undefined
  try {
    return await ask(await openHost(fleet, node, context))
  } catch (error) {
    if (!isCliError(error) || error.code === 'INTERRUPTED') throw error
    context.reporter.warn(`${name} was not asked: ${error.message}`)
    return undefined
  }
}

async function ifThere<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

async function hashOf(stream: Readable): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of stream) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

async function readAll(stream: Readable, path: string, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += (chunk as Buffer).length
    if (size > most) {
      stream.destroy()
      throw new CliError('CHECK_FAILED', `${path} has more than ${most} bytes`)
    }
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
