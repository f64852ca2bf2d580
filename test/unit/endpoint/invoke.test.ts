import {createServer, type IncomingHttpHeaders} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, Secret} from '../../../src/lib/base/index.ts'
import {invokeEndpoint} from '../../../src/lib/endpoint/invoke.ts'
import type {Site} from '../../../src/lib/endpoint/site.ts'

const DOCUMENT = {name: 'chat', releases: [{id: 'r1', protocol: 'mlflow'}], active: {release: 'r1'}}
const asked: IncomingHttpHeaders[] = []
const gateway = createServer((request, response) => {
  asked.push(request.headers)
  if (request.headers['x-envoy-expected-rq-timeout-ms'] === undefined) return void response.end('{"predictions": [1]}')
  response.statusCode = 504
  response.end('{"error": {"code": "TIMED_OUT", "message": "the deadline has passed"}}')
})
let site: Site

beforeAll(async () => {
  await new Promise<void>((done) => gateway.listen(0, '127.0.0.1', done))
  const uri = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  const request = () => Promise.resolve({name: 'chat', document: DOCUMENT, generation: 1})
  site = {head: {uri, token: new Secret('t'), request}, context: makeContext()} as unknown as Site
})
afterAll(() => void gateway.close())

const input = {name: 'chat', file: 'x.json', bytes: Buffer.from('{"inputs": [1]}')}

test('a request is waited for as long as its endpoint lets it wait, or as long as its caller says', async () => {
  expect(await invokeEndpoint(site, input)).toMatchObject({protocol: 'mlflow', answer: {predictions: [1]}})
  await expect(invokeEndpoint(site, {...input, timeout: 7})).rejects.toMatchObject({
    code: 'TIMED_OUT',
    message: 'endpoint chat: the deadline has passed',
  })
  expect(asked.map((headers) => headers['x-envoy-expected-rq-timeout-ms'])).toEqual([undefined, '7000'])
})
