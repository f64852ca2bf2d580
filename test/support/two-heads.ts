import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {createServer, type Server} from 'node:http'
import {request} from 'node:https'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {FollowConfig, ServerStatus} from '../../src/lib/head/types.ts'
import {startHeadProcess, statusOf, type HeadProcess} from './head-process.ts'

/** Two heads as processes of their own on loopback: one that is followed, one that follows. */
export interface TwoHeads {
  first: HeadProcess
  standby: HeadProcess
  /** Base URL of the first, with TLS. */
  uri: string
  /** The rack's authority, PEM. */
  ca: string
  /** Starts the first again in its folder, at its port. */
  startFirst(): Promise<HeadProcess>
  /** Starts the standby again in its folder, with other settings. */
  startStandby(follow?: Partial<FollowConfig>): Promise<HeadProcess>
  /** Gives the standby a token, and returns its id. */
  enrol(names?: string[]): Promise<{id: string; token: string}>
  /** Resolves once the standby says so. */
  standbyIs(state: NonNullable<ServerStatus['following']>['state']): Promise<ServerStatus>
  /** Resolves once the standby has all that the first has. */
  current(): Promise<void>
  /** Of the document that was put last. */
  revision: number
  /** Writes the document of the endpoint `digits` at the first. */
  put(document: object): Promise<void>
  /** Makes a key of a client for it, at the first. */
  newKey(client: string): Promise<{id: string; token: string}>
  /** One prediction at a head, over TLS as clients come. */
  predict(base: string, token: string, ca?: string): Promise<{status: number; text: string}>
  /** Base URL of the standby, with TLS. */
  standbyUri(): Promise<string>
  stop(): Promise<void>
}

export type Named = Awaited<ReturnType<typeof startNamed>>

export async function startTwoHeads(follow: Partial<FollowConfig> = {}): Promise<TwoHeads> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-two-heads-'))
  const [one, other] = [join(folder, 'first'), join(folder, 'standby')]
  const first = await startHeadProcess({folder: one})
  const {port} = JSON.parse(await readFile(join(one, 'listener.json'), 'utf8')) as {port: number}
  const ca = await readFile(join(one, 'tls/ca.pem'), 'utf8')
  const uri = `https://127.0.0.1:${port}`
  const heads: TwoHeads = {
    first,
    standby: first,
    uri,
    ca,
    startFirst: async () => (heads.first = await startHeadProcess({folder: one, port})),
    startStandby: async (changed = {}) =>
      (heads.standby = await startHeadProcess({
        folder: other,
        python: '',
        follow: {url: uri, ca, node: 'node-1', near: true, ...follow, ...changed},
      })),
    enrol: async (names = ['127.0.0.1']) => {
      const answer = await heads.first.call('POST', '/flexrack/v1/tokens', {kind: 'standby', node: 'node-2', names})
      const made = (await answer.json()) as {id: string; token: string}
      await mkdir(other, {recursive: true, mode: 0o700})
      await writeFile(join(other, 'follow-token'), made.token, {mode: 0o600})
      return made
    },
    standbyIs: (state) =>
      until(async () => {
        const status = await statusOf(heads.standby)
        return status.following?.state === state ? status : undefined
      }),
    current: async () => {
      await until(async () => {
        const {followers} = await statusOf(heads.first)
        return followers?.some((each) => each.isCurrent) || undefined
      })
    },
    revision: 0,
    put: async (document) => {
      const answer = await heads.first.call('PUT', '/flexrack/v1/endpoints/digits', {
        revision: heads.revision,
        document,
      })
      if (!answer.ok) throw new Error(await answer.text())
      heads.revision = ((await answer.json()) as {revision: number}).revision
    },
    newKey: async (client) => {
      const answer = await heads.first.call('POST', '/flexrack/v1/tokens', {
        kind: 'endpoint',
        endpoint: 'digits',
        client,
      })
      return (await answer.json()) as {id: string; token: string}
    },
    predict: (base, token, trusted = ca) => predict(base, token, trusted),
    standbyUri: async () => {
      const text = await readFile(join(heads.standby.folder, 'listener.json'), 'utf8')
      return `https://127.0.0.1:${(JSON.parse(text) as {port: number}).port}`
    },
    stop: async () => {
      await Promise.all([heads.first.stop(), heads.standby.stop()])
      await rm(folder, {recursive: true, force: true})
    },
  }
  await heads.enrol()
  await heads.startStandby()
  return heads
}

export async function until<T>(look: () => Promise<T | undefined>, seconds = 30): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ;) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error('it has not become so')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function predict(base: string, token: string, ca: string): Promise<{status: number; text: string}> {
  const headers = {authorization: `Bearer ${token}`, 'content-type': 'application/json'}
  return new Promise((resolve, reject) => {
    const url = `${base}/endpoints/digits/v2/models/digits/infer`
    const call = request(url, {method: 'POST', ca, agent: false, headers}, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += String(chunk)))
      answer.on('end', () => resolve({status: answer.statusCode!, text}))
      answer.on('error', reject)
    })
    call.on('error', reject)
    call.end('{"inputs": []}')
  })
}

/** A model server that answers every call with its name. */
export async function startNamed(name: string): Promise<{url: string; server: Server; calls: () => number}> {
  let calls = 0
  const server = createServer((request, response) => {
    calls++
    request.resume()
    request.on('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify({name})))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, calls: () => calls}
}
