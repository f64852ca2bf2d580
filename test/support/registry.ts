import {createHash, randomBytes} from 'node:crypto'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

/**
 * A registry of images on loopback that asks for a token and keeps its blobs elsewhere, as those of clouds do; and both
 * can be made to lie.
 */
export interface TestRegistry {
  /** `127.0.0.1:PORT` */
  host: string
  /** Every request, in order, to the registry, its authorization service and where blobs are. */
  seen: {place: 'registry' | 'token' | 'blobs'; path: string; authorization: string | undefined}[]
  /** Adds a blob, and gives its digest. */
  blob(bytes: Buffer): string
  /** Adds an image under a tag, and gives the digest of its manifest. */
  image(
    name: string,
    tag: string,
    layers: Buffer[],
    parts?: {mediaType?: string; diffIds?: string[]; sizes?: number[]},
  ): string
  /** Answers a blob with something else. */
  lies: Map<string, (answer: ServerResponse) => void>
  /** Where blobs are redirected to instead. */
  redirect?: string
  stop(): Promise<void>
}

export const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

export async function startRegistry({user, password}: {user?: string; password?: string} = {}): Promise<TestRegistry> {
  const blobs = new Map<string, Buffer>()
  const tags = new Map<string, string>()
  const types = new Map<string, string>()
  const secret = randomBytes(8).toString('hex')
  const token = (): string => `Bearer ${secret}`
  const servers: ReturnType<typeof createServer>[] = []
  const open = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
    const server = createServer(answer)
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const note = (place: TestRegistry['seen'][number]['place'], {url = '', headers}: IncomingMessage): void =>
    void registry.seen.push({place, path: url, authorization: headers.authorization})
  const storage = await open((request, response) => {
    note('blobs', request)
    const digest = request.url?.slice(1) ?? ''
    const lie = registry.lies.get(digest)
    if (lie) return lie(response)
    const found = blobs.get(digest)
    response.writeHead(found ? 200 : 404).end(found)
  })
  const service = await open((request, response) => {
    note('token', request)
    const wanted = user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    if (wanted !== request.headers.authorization) return response.writeHead(401).end()
    response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify({token: secret}))
  })
  const host = await open((request, response) => {
    note('registry', request)
    if (request.headers.authorization !== token()) {
      return response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="http://${service}/token",service="test",scope="repository:x:pull"`,
        })
        .end()
    }
    const [, name, kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(request.url ?? '') ?? []
    if (kind === 'blobs')
      return response.writeHead(307, {location: registry.redirect ?? `http://${storage}/${reference}`}).end()
    const digest = tags.get(`${name}:${reference}`) ?? reference
    const lie = registry.lies.get(digest)
    if (lie) return lie(response)
    const found = blobs.get(digest)
    response.writeHead(found ? 200 : 404, {'content-type': types.get(digest) ?? 'application/octet-stream'}).end(found)
  })
  const registry: TestRegistry = {
    host,
    seen: [],
    lies: new Map(),
    blob(bytes) {
      blobs.set(digestOf(bytes), bytes)
      return digestOf(bytes)
    },
    image(
      name,
      tag,
      layers,
      {
        mediaType = 'application/vnd.oci.image.layer.v1.tar',
        diffIds = layers.map(digestOf),
        sizes = layers.map((one) => one.length),
      } = {},
    ) {
      const config = Buffer.from(
        JSON.stringify({
          architecture: 'amd64',
          os: 'linux',
          config: {Env: ['A=b=c', 'broken']},
          rootfs: {type: 'layers', diff_ids: diffIds},
        }),
      )
      const manifest = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: 'application/vnd.oci.image.manifest.v1+json',
          config: {
            mediaType: 'application/vnd.oci.image.config.v1+json',
            digest: this.blob(config),
            size: config.length,
          },
          layers: layers.map((one, index) => ({mediaType, digest: this.blob(one), size: sizes[index]})),
        }),
      )
      const digest = this.blob(manifest)
      types.set(digest, 'application/vnd.oci.image.manifest.v1+json')
      tags.set(`${name}:${tag}`, digest)
      return digest
    },
    stop: async () => {
      await Promise.all(
        servers.map((server) => new Promise((done) => (server.close(done), server.closeAllConnections()))),
      )
    },
  }
  return registry
}
