import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Endpoints, TensorAnswer} from '../../../src/lib/endpoint/index.ts'
import {openGpus, type Gpus, type Lease} from '../../../src/lib/gpu/index.ts'
import {connectHead} from '../../../src/lib/head/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {tinyGguf} from '../../support/gguf.ts'
import {llamaCuda, llamaServer} from '../../support/llama-cuda.ts'

/** Squares and adds one, in a kernel that the driver of the lease compiles. */
const KERNEL = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry square(.param .u64 data, .param .u32 count) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f32 %f<3>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  cvta.to.global.u64 %d2, %d1;
  mad.wide.u32 %d3, %r5, 4, %d2;
  ld.global.f32 %f1, [%d3];
  fma.rn.f32 %f2, %f1, %f1, 0f3F800000;
  st.global.f32 [%d3], %f2;
done:
  ret;
}
`
/** A model of Triton's Python backend that computes on the GPU it sees, by the driver alone. */
const TRITON = `
import ctypes
import numpy as np
import triton_python_backend_utils as pb_utils

cuda = ctypes.CDLL("libcuda.so.1")

def check(status):
    if status != 0:
        raise pb_utils.TritonModelException(f"CUDA error {status}")

class TritonPythonModel:
    def initialize(self, args):
        self.context, self.module, self.kernel, self.data = (ctypes.c_void_p() for _ in range(4))
        check(cuda.cuInit(0))
        check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0))
        check(cuda.cuCtxSetCurrent(self.context))
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), ${JSON.stringify(KERNEL)}.encode()))
        check(cuda.cuModuleGetFunction(ctypes.byref(self.kernel), self.module, b"square"))
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.data), ctypes.c_size_t(1 << 20)))

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", self.square(one))]) for one in requests]

    def square(self, request):
        x = pb_utils.get_input_tensor_by_name(request, "x").as_numpy()
        y, count = np.empty_like(x), ctypes.c_uint32(x.size)
        check(cuda.cuCtxSetCurrent(self.context))
        check(cuda.cuMemcpyHtoD_v2(self.data, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(x.nbytes)))
        words = (ctypes.c_void_p * 2)(ctypes.addressof(self.data), ctypes.addressof(count))
        check(cuda.cuLaunchKernel(self.kernel, (x.size + 63) // 64, 1, 1, 64, 1, 1, 0, None, words, None))
        check(cuda.cuMemcpyDtoH_v2(y.ctypes.data_as(ctypes.c_void_p), self.data, ctypes.c_size_t(y.nbytes)))
        return y
`
const CONFIG = `
backend: "python"
input [{ name: "x" data_type: TYPE_FP32 dims: [-1] }]
output [{ name: "y" data_type: TYPE_FP32 dims: [-1] }]
`
const COMMAND = 'sh serve.sh'
const MANIFEST = `
name: engines
endpoints:
  square: {model: square, gpus: {memory: 64MiB}}
  talk: {model: talk, command: "${COMMAND} cuda {host} {port} {model_file}", protocol: openai, gpus: {memory: 1GiB}}
  same: {model: talk, command: "${COMMAND} cpu {host} {port} {model_file}", protocol: openai}
  idle: {model: talk, runtime: llamacpp, gpus: {memory: 64MiB}}
`

let site: EndpointRack
let folder: string
let endpoints: Endpoints
let gpus: Gpus

beforeAll(async () => {
  const llama = await llamaCuda()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-engines-'))
  await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
  await writeFile(join(folder, 'serve.mjs'), llamaServer(llama))
  const path = `LD_LIBRARY_PATH="$LD_LIBRARY_PATH:${llama.libraries}"`
  await writeFile(join(folder, 'serve.sh'), `${path} exec ${process.execPath} serve.mjs "$@"\n`)
  site = await startEndpointRack({nodes: 2})
  gpus = openGpus({rack: site.rack.rack, fleet: site.rack.fleet()}, site.rack.context())
  await gpus.serve(site.rack.rack.nodes, {
    backend: 'sim',
    sim: {capability: '13.0', driver: '13.5', memory: 4 * 2 ** 30},
  })
  endpoints = await site.open({}, await loadManifest(folder))
  await site.run('square', {'square/config.pbtxt': Buffer.from(CONFIG), 'square/1/model.py': Buffer.from(TRITON)})
  await site.run('talk', {'talk.gguf': tinyGguf()})
  for (const [name, path] of [
    ['square', 'square'],
    ['talk', 'talk.gguf'],
  ] as const)
    await site.models.register(await site.models.findRegistration({name, run: name, path}))
}, 1_200_000)

afterAll(async () => {
  await site?.stop()
  await rm(folder, {recursive: true, force: true})
})

async function square(): Promise<void> {
  const data = Array.from({length: 100}, () => Math.fround(Math.random()))
  const body = JSON.stringify({inputs: [{name: 'x', datatype: 'FP32', shape: [data.length], data}]})
  const answer = (await endpoints.invoke({name: 'square', file: 'x.json', bytes: Buffer.from(body)})) as TensorAnswer
  expect(answer.outputs[0]!.data).toEqual(data.map((one): unknown => expect.closeTo(one * one + 1, 5)))
}

interface Said {
  tokens: number[]
  layers: number
  choices: {text: string}[]
}

async function say(name: string, prompt: string): Promise<Said> {
  const head = await connectHead(site.rack.rack, site.rack.fleet(), site.rack.context())
  const answer = await fetch(`${head.uri}/endpoints/${name}/v1/completions`, {
    method: 'POST',
    headers: {authorization: `Bearer ${(await endpoints.token(name)).reveal()}`, 'content-type': 'application/json'},
    body: JSON.stringify({prompt, max_tokens: 16}),
  })
  await head.close()
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return JSON.parse(text) as Said
}

const leasesOf = async (endpoint: string): Promise<Lease[]> =>
  (await gpus.read(site.rack.rack.nodes)).leases.filter(({purpose}) => purpose?.includes(`endpoint-${endpoint}-`))

test("Triton's Python backend computes on a leased GPU", async () => {
  await endpoints.deploy({name: 'square', on: 'node-1'})
  expect(await endpoints.show('square')).toMatchObject({runtime: 'triton'})
  await square()
  expect(await leasesOf('square')).toMatchObject([{node: 'node-1'}])
})

test('llama.cpp built for CUDA says on a share of the same GPU what it says on the CPU, while Triton computes there', async () => {
  await endpoints.deploy({name: 'same', on: 'node-1'})
  await endpoints.deploy({name: 'talk', on: 'node-1'})
  const leases = [...(await leasesOf('square')), ...(await leasesOf('talk'))]
  expect(leases.map(({node}) => node)).toEqual(['node-1', 'node-1'])
  for (const prompt of ['1, 2, ', 'Hello', 'a longer text, of which there are more than thirty words']) {
    const [far, near] = await Promise.all([say('talk', prompt), say('same', prompt), square()])
    expect(far).toMatchObject({tokens: near.tokens, choices: [{text: near.choices[0]!.text}]})
    expect(far.tokens.length).toBeGreaterThan(3)
    expect([far.layers, near.layers]).toEqual([3, 0])
  }
})

test('a lease that is taken away ends its server, which is there again with another lease', async () => {
  const [lease] = await leasesOf('square')
  await gpus.release([lease!])
  for (const until = Date.now() + 120_000; ;) {
    const now = await leasesOf('square')
    const isBack = now.some((one) => one.lease !== lease!.lease)
    if (
      isBack &&
      (await square().then(
        () => true,
        () => false,
      ))
    )
      break
    if (Date.now() > until) throw new Error(`not back in two minutes: ${JSON.stringify(now)}`)
    await sleep(500)
  }
  const [far, near] = [await say('talk', 'Hello'), await say('same', 'Hello')]
  expect(far.tokens).toEqual(near.tokens) // the other one has not noticed
})

test('a lease that moves to another node takes what its server has there, and no request is lost', async () => {
  const moving = await leasesOf('square')
  const moves = await gpus.findMoves(moving, site.rack.rack.nodes[1])
  const calls = (async () => {
    for (let at = 0; at < 20; at++) await square()
  })()
  await Promise.all([calls, gpus.move('gpu move', moves, 10)])
  await square()
  expect((await leasesOf('square')).map(({node}) => node)).toEqual(['node-2'])
})

test('a runtime that computes on CPUs alone is not given a GPU to leave idle', async () => {
  await expect(endpoints.deploy({name: 'idle', on: 'node-1'})).rejects.toMatchObject({code: 'USAGE'})
  expect(await leasesOf('idle')).toEqual([])
})
