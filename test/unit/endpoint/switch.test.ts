import {expect, test} from 'vitest'
import {CliError, makeContext, Secret, type CliError as Failure} from '../../../src/lib/base/index.ts'
import type {EndpointDocument, Release} from '../../../src/lib/endpoint/document.ts'
import {newDocument} from '../../../src/lib/endpoint/document.ts'
import type {Site} from '../../../src/lib/endpoint/site.ts'
import {carryOut} from '../../../src/lib/endpoint/transition.ts'
import type {HeadConnection} from '../../../src/lib/head/index.ts'
import type {Fleet} from '../../../src/lib/ssh/index.ts'
import type {Mlflow} from '../../../src/lib/tracking/index.ts'

const gone = new CliError('NODE_UNREACHABLE', 'the head cannot be reached')

/** A head that keeps one document; at the switch its answer, or the request itself, is lost. */
class Head implements HeadConnection {
  user = undefined
  listener = {address: '127.0.0.1', port: 1, url: ''}
  readonly quotas = false
  uri = 'http://127.0.0.1:1'
  nodeUri = 'http://127.0.0.1:1'
  nodeCa = undefined
  ca = ''
  closed = new Promise<void>(() => {})
  certificates = (): Promise<undefined> => Promise.resolve(undefined)
  projects = (): Promise<string[]> => Promise.resolve([])
  token = new Secret('t')
  revision = 0
  document: EndpointDocument | undefined
  readonly #loses: 'nothing' | 'answer' | 'request' | 'everything'
  #lost = false

  constructor(loses: 'nothing' | 'answer' | 'request' | 'everything') {
    this.#loses = loses
  }

  async request<T>(method: string, _path: string, body?: unknown): Promise<T> {
    const put = body as {document: EndpointDocument} | undefined
    const isSwitch = method === 'PUT' && put?.document.active !== null && !this.#lost && this.#loses !== 'nothing'
    if (this.#lost && this.#loses === 'everything') throw gone
    if (method === 'PUT' && put && (!isSwitch || this.#loses === 'answer')) {
      this.document = put.document
      this.revision += 1
    }
    if (isSwitch) {
      this.#lost = true
      throw gone
    }
    return {revision: this.revision, document: this.document} as T
  }

  logIn(): Promise<never> {
    return Promise.reject(gone)
  }

  async close(): Promise<void> {}
}

const release: Release = {
  id: 'r1',
  model: {name: 'm', version: '1', files: []},
  runtime: 'onnx',
  state: 'starting',
  createdAt: '',
  by: 'me',
  kept: true,
  replicas: [{index: 0, node: 'a', service: 'endpoint-m-r1-0', url: 'http://127.0.0.1:2'}],
}

async function deploy(head: Head): Promise<EndpointDocument> {
  const site: Site = {
    head,
    context: makeContext(),
    manifest: undefined,
    mlflow: {} as Mlflow,
    fleet: {} as Fleet,
    rack: {name: 'r', path: '/r.yaml', nodes: [], head: {node: 'a', bind: '127.0.0.1'}},
  }
  const change = {
    command: 'endpoint deploy',
    endpoint: 'm',
    release,
    start: [],
    stop: [],
    headNode: 'a',
    fetch: false,
    asksModel: false,
  }
  return carryOut(
    site,
    {revision: 0, document: newDocument('m', new Date()), inFlight: {}, served: {}},
    {
      change,
      seconds: 1,
      rejectOld: false,
      fetch: () => Promise.reject(new Error('not needed')),
    },
  )
}

test('a switch whose answer was lost is seen to have happened', async () => {
  expect(await deploy(new Head('answer'))).toMatchObject({
    active: {release: 'r1', targets: ['http://127.0.0.1:2']},
    releases: [{state: 'active'}],
  })
})

test('a switch that never arrived is taken back', async () => {
  const head = new Head('request')
  await expect(deploy(head)).rejects.toMatchObject({
    code: 'NODE_UNREACHABLE',
    message: expect.stringContaining('r1 of endpoint m was not switched to'),
  })
  expect(head.document).toMatchObject({active: null, releases: [{id: 'r1', state: 'failed'}]})
})

test('where the head cannot be asked, nothing is ended and it is said', async () => {
  const head = new Head('everything')
  const error = (await deploy(head).catch((reason: unknown) => reason)) as Failure
  expect(error).toMatchObject({code: 'HEAD_FAILED'})
  expect(error.message).toContain('both releases were left running')
  expect(head.document).toMatchObject({releases: [{id: 'r1', state: 'starting'}]}) // what the next command cleans up by
})
