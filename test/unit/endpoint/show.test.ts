import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterEach, expect, test} from 'vitest'
import {makeContext, Secret} from '../../../src/lib/base/index.ts'
import {
  newDocument,
  putRelease,
  settled,
  switchTo,
  type EndpointDocument,
  type Release,
} from '../../../src/lib/endpoint/document.ts'
import {listEndpoints} from '../../../src/lib/endpoint/show.ts'
import type {Site} from '../../../src/lib/endpoint/site.ts'

const now = new Date('2026-01-02T03:04:05Z')
let gateway: Server | undefined
afterEach(() => gateway?.close())

function deployed(name: string): EndpointDocument {
  const release: Release = {
    id: 'r1',
    model: {name, version: '1', files: []},
    runtime: 'onnx',
    state: 'starting',
    replicas: [],
    createdAt: now.toISOString(),
    by: 'ada@desk',
    kept: true,
  }
  return settled(switchTo(putRelease(newDocument(name, now), release), release, now, false), '')
}

/** States as listEndpoints tells them, of a head whose gateway answers for health as `health` says. */
async function states(documents: EndpointDocument[], health: Record<string, number>): Promise<Record<string, string>> {
  gateway = createServer((request, response) => {
    const name = /^\/endpoints\/([a-z]+)\/v2\/health\/ready$/.exec(request.url ?? '')?.[1] ?? ''
    response.writeHead(health[name] ?? 404, {'content-type': 'application/json'})
    response.end(
      health[name] === 200
        ? '{"ready":true}'
        : '{"error":{"code":"ENDPOINT_FAILED","message":"no model server takes connections"}}',
    )
  })
  await new Promise<void>((done) => gateway?.listen(0, '127.0.0.1', done))
  const uri = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const request = async (): Promise<unknown> => ({endpoints: documents.map((document) => ({revision: 1, document}))})
  const site = {head: {uri, nodeUri: uri, token: new Secret('t'), request}, context: makeContext()} as unknown as Site
  return Object.fromEntries((await listEndpoints(site)).map(({name, state}) => [name, state]))
}

test('the state is what a request would meet now: an endpoint whose servers are stopped serves nothing', async () => {
  expect(await states([deployed('well'), deployed('ill')], {well: 200, ill: 503})).toEqual({
    well: 'serving',
    ill: 'failing',
  })
})

test('an endpoint without a release is down, and is not asked', async () => {
  expect(await states([newDocument('fresh', now)], {})).toEqual({fresh: 'down'})
})
