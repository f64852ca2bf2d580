import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {TensorAnswer} from '../../../src/lib/endpoint/index.ts'
import {openHost} from '../../../src/lib/host/index.ts'
import {buildEnvironments} from '../../support/built-environments.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {callKServe, callTriton} from '../../support/tensor-clients.ts'

const SETTINGS = {
  name: 'whatever',
  implementation: 'words.Counter',
  inputs: [{name: 'text', datatype: 'BYTES', shape: [-1]}],
  outputs: [{name: 'count', datatype: 'INT64', shape: [-1]}],
  parameters: {uri: './least.txt'},
}
/** Pre- and post-processing of its own, a package of its own, and a file beside it. */
const CLASS = `
from inflection import camelize
from mlserver import MLModel
from mlserver.codecs import NumpyCodec, StringCodec
from mlserver.types import InferenceResponse
from mlserver.utils import get_model_uri
import numpy as np

class Counter(MLModel):
    async def load(self):
        self.least = int(open(await get_model_uri(self._settings)).read())
        return True

    async def predict(self, payload):
        texts = StringCodec.decode_input(payload.inputs[0])
        counts = np.array([max(self.least, len(text.split())) for text in texts])
        return InferenceResponse(
            model_name=self.name, model_version=self.version, parameters={"first": camelize(texts[0]) if texts else ""},
            outputs=[NumpyCodec.encode_output("count", counts)],
        )
`
const CONFIG = `
# The name in the file is another one than the endpoint's.
name: "doubler"  backend: "python"
max_batch_size: 8
input [{ name: "x" data_type: TYPE_FP32 dims: [4] }]
output [{ name: "y" data_type: TYPE_FP32 dims: [4] }]
dynamic_batching { max_queue_delay_microseconds: 100 }
parameters: { key: "by", value: { string_value: "2" } }
`
const TRITON = `
import json
import sys
import numpy as np
import triton_python_backend_utils as pb_utils
from inflection import camelize  # of the model's own requirements

class TritonPythonModel:
    def initialize(self, args):
        self.by = np.float32(json.loads(args["model_config"])["parameters"]["by"]["string_value"])

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("y", pb_utils.get_input_tensor_by_name(one, "x").as_numpy() * self.by)])
            for one in requests
        ]
`
/** Gives back what it gets, of each type. */
const TYPES = ['FP32', 'INT64', 'BOOL', 'BYTES', 'FP16']
const triton = (name: string): string => (name === 'BYTES' ? 'TYPE_STRING' : `TYPE_${name}`)
const SAME_CONFIG = `
backend: "python"
input [${TYPES.map((name) => `{name: "${name}" data_type: ${triton(name)} dims: [-1]}`).join(', ')}]
output [${TYPES.map((name) => `{name: "${name}_out" data_type: ${triton(name)} dims: [-1]}`).join(', ')}]
`
const SAME = `
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([self.same(one, name) for name in ${JSON.stringify(TYPES)}]) for one in requests]

    def same(self, request, name):
        return pb_utils.Tensor(name + "_out", pb_utils.get_input_tensor_by_name(request, name).as_numpy())
`

let site: EndpointRack

beforeAll(async () => {
  site = await startEndpointRack({nodes: 1})
  const model = (path: string, parts: Record<string, string>): Record<string, Buffer> =>
    Object.fromEntries(Object.entries(parts).map(([name, text]) => [`${path}/${name}`, Buffer.from(text)]))
  const class_ = {'words.py': CLASS, 'least.txt': '2', 'requirements.txt': 'inflection==0.5.1\n'}
  await site.run('words', model('words', {...class_, 'model-settings.json': JSON.stringify(SETTINGS)}))
  await site.run('empty', model('words', {...class_, 'model-settings.json': '{}'}))
  await site.run(
    'double',
    model('double', {'config.pbtxt': CONFIG, '1/model.py': TRITON, 'requirements.txt': 'inflection==0.5.1\n'}),
  )
  await site.run('same', model('same', {'config.pbtxt': SAME_CONFIG, '1/model.py': SAME}))
  for (const [name, run, path] of [
    ['words', 'words', 'words/'],
    ['empty', 'empty', 'words'],
    ['double', 'double', 'double'],
    ['same', 'same', 'same'],
  ] as const)
    await site.models.register(await site.models.findRegistration({name, run, path}))
}, 300_000)
afterAll(() => site?.stop())

const ask = async (name: string, value: unknown): Promise<TensorAnswer> =>
  (await site.endpoints.invoke({name, file: '--data', bytes: Buffer.from(JSON.stringify(value))})) as TensorAnswer

test("a class of the user's own is served by MLServer, with its package and the file beside it", async () => {
  const {document} = await site.endpoints.deploy({name: 'words'})
  expect(document.releases[0]).toMatchObject({
    runtime: 'python',
    model: {needs: {requirements: 'inflection==0.5.1\n'}},
  })
  expect(await ask('words', ['hello_world', 'one two three'])).toMatchObject({
    model_name: 'words',
    parameters: {first: 'HelloWorld'},
    outputs: [{name: 'count', data: [2, 3]}],
  })
  await site.endpoints.scale('words', 2)
  expect((await ask('words', ['a b c d'])).outputs[0]?.data).toEqual([4])
}, 900_000)

test('settings that name no class are told with the words of the server', async () => {
  await expect(site.endpoints.deploy({name: 'empty'})).rejects.toMatchObject({
    code: 'ENDPOINT_FAILED',
    details: {lines: expect.arrayContaining([expect.stringContaining('names no implementation')]) as string[]},
  })
}, 300_000)

test("a model of Triton's repository is served by a real Triton, under the endpoint's name", async () => {
  const {endpoint, document} = await site.endpoints.deploy({name: 'double'})
  expect(endpoint).toMatchObject({state: 'serving', protocol: 'v2'})
  expect(document.releases[0]).toMatchObject({runtime: 'triton'})
  expect(
    await ask('double', [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]),
  ).toMatchObject({
    model_name: 'double',
    model_version: '1',
    outputs: [{name: 'y', datatype: 'FP32', shape: [2, 4], data: [2, 4, 6, 8, 10, 12, 14, 16]}],
  })
  const wrong = {inputs: [{name: 'x', shape: [1, 3], datatype: 'FP32', data: [1, 2, 3]}]}
  const url = `${site.tracking.mlflow.uri}/endpoints/double/v2/models/double/infer`
  const authorization = `Bearer ${(await site.endpoints.token('double')).reveal()}`
  const answer = await fetch(url, {method: 'POST', headers: {authorization}, body: JSON.stringify(wrong)})
  expect([answer.status, await answer.json()]).toMatchObject([400, {error: expect.stringContaining('shape') as string}])
  const head = JSON.stringify({
    inputs: [{name: 'x', shape: [1, 4], datatype: 'FP32', parameters: {binary_data_size: 16}}],
    parameters: {binary_data_output: true},
  })
  const packed = await fetch(url, {
    method: 'POST',
    headers: {authorization, 'inference-header-content-length': String(head.length)},
    body: Buffer.concat([Buffer.from(head), Buffer.from(Float32Array.of(1, 2, 3, 4).buffer)]),
  })
  const bytes = Buffer.from(await packed.arrayBuffer())
  const begin = Number(packed.headers.get('inference-header-content-length'))
  expect(begin).toBeGreaterThan(0)
  expect([...new Float32Array(new Uint8Array(bytes.subarray(begin)).buffer)]).toEqual([2, 4, 6, 8])
  await site.endpoints.remove('double')
  expect((await site.endpoints.list()).map(({name}) => name)).not.toContain('double')
}, 900_000)

test("Triton's clients and KServe's, HTTP and gRPC, get through the gateway what Triton says, type by type", async () => {
  const [triton, kserve] = await buildEnvironments(
    ['tritonclient[grpc,http]==2.73.0\n', 'kserve==0.21.0\n'],
    '>=3.11,<3.13',
  )
  await site.endpoints.deploy({name: 'same'})
  const host = await openHost(site.rack.fleet(), site.rack.rack.nodes[0]!, site.rack.context())
  const place = {
    endpoints: site.endpoints,
    uri: site.tracking.mlflow.uri,
    caFile: join(host.root, 'head/tls/ca.pem'),
  }
  const given = {
    FP32: [1.5, 2, -3],
    INT64: [1, -5, 3],
    BOOL: [true, false, true],
    BYTES: ['a', '', 'ü'.repeat(900)],
    FP16: [1, 65504, 0.5],
  }
  const out = Object.fromEntries(Object.entries(given).map(([name, values]) => [`${name}_out`, values]))
  const called = await callTriton(join(triton!, 'bin/python'), place, 'same', given)
  expect(called).toMatchObject({live: [true, true], ready: [true, true], same: true})
  expect(called.inputs).toEqual(TYPES.map((name) => [name, name, [-1]]))
  expect(called).toMatchObject({binary: out, grpc: out, streamed: out})
  const {FP16_out: _, ...numbers} = out
  expect(called.json).toEqual(numbers)
  expect(called.refused).toEqual(['400', expect.stringContaining('nobody')])
  const typed = Object.fromEntries(Object.entries(given).map(([name, values]) => [name, [name, values]])) as Parameters<
    typeof callKServe
  >[3]
  expect(await callKServe(join(kserve!, 'bin/python'), place, 'same', typed)).toEqual({rest: out, grpc: out})
}, 900_000)
