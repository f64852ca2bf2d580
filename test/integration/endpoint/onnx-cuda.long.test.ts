import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Endpoints, TensorAnswer} from '../../../src/lib/endpoint/index.ts'
import {openGpus, type Gpus} from '../../../src/lib/gpu/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {digitsModel} from '../../support/onnx.ts'

// The first server has its GPU at the other node, and is the one that its runtime is chosen for.
const MANIFEST = `
name: digits
endpoints:
  near: {model: digits, runtime: onnx}
  far: {model: digits, gpus: {memory: 1GiB, remote: true}}
`
const PICTURES = 3

let site: EndpointRack
let folder: string
let endpoints: Endpoints
let gpus: Gpus

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-onnx-cuda-'))
  await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
  site = await startEndpointRack({nodes: 2})
  gpus = openGpus({rack: site.rack.rack, fleet: site.rack.fleet()}, site.rack.context())
  const [, second] = site.rack.rack.nodes
  await gpus.serve([second!], {backend: 'sim', sim: {capability: '12.0'}})
  endpoints = await site.open({}, await loadManifest(folder))
  await site.run('one', {'digits.onnx': digitsModel()})
  await site.models.register(await site.models.findRegistration({name: 'digits', run: 'one'}))
})

afterAll(async () => {
  await site?.stop()
  await rm(folder, {recursive: true, force: true})
})

async function predict(name: string): Promise<number[]> {
  const data = Array.from({length: PICTURES * 64}, (_, at) => Math.cos(at))
  const body = JSON.stringify({inputs: [{name: 'x', datatype: 'FP32', shape: [PICTURES, 1, 8, 8], data}]})
  const answer = (await endpoints.invoke({name, file: 'x.json', bytes: Buffer.from(body)})) as TensorAnswer
  return answer.outputs[0]!.data.flat(9) as number[]
}

async function logOf(name: string): Promise<string> {
  const lines: string[] = []
  await endpoints.logs({name, follow: false, tail: 2 ** 20, onLine: ({text}) => void lines.push(text)})
  return lines.join('\n')
}

test('a model computes on a leased GPU of another node what it computes on the CPU, and nothing of it on the CPU', async () => {
  await endpoints.deploy({name: 'near', on: 'node-1'})
  expect(await endpoints.deploy({name: 'far', on: 'node-1'})).toMatchObject({endpoint: {state: 'serving'}})
  expect(await endpoints.show('far')).toMatchObject({runtime: 'onnx-cuda'})
  const [near, far] = [await predict('near'), await predict('far')]
  expect(near).toHaveLength(PICTURES * 10)
  expect(new Set(near).size).toBe(near.length) // a difference would be seen
  const off = near.map((value, at) => Math.abs(value - far[at]!))
  expect(Math.max(...off)).toBeLessThan(1e-5)
  expect((await gpus.read(site.rack.rack.nodes)).leases).toMatchObject([
    {node: 'node-2', purpose: 'model server endpoint-far-r1-0 on node-1', programs: 1},
  ])
  expect(await logOf('far')).not.toContain('not every operator')
  await endpoints.remove('far')
})

test('without a lease it does not start, and says why', async () => {
  const bare = {name: 'bare', model: 'digits', runtime: 'onnx-cuda', on: 'node-1', seconds: 60}
  const lines = expect.arrayContaining([expect.stringContaining('found no GPU')])
  await expect(endpoints.deploy(bare)).rejects.toMatchObject({code: 'ENDPOINT_FAILED', details: {lines}})
})
