import {execFileSync} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Endpoints, TensorAnswer} from '../../../src/lib/endpoint/index.ts'
import {openHost} from '../../../src/lib/host/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {INFER_HANDLER} from '../../support/infer-handler.ts'

/** A model server of a project's own, which says what system it sees; the model is a number in a file. */
const SERVER = `${INFER_HANDLER}
import os, sys

name, version, host, port, path, folder = sys.argv[1:]
offset = float(open(path).read())
open(os.path.join(folder, "written"), "w").close()
tensor = {"name": "x", "datatype": "FP32", "shape": [-1]}

class Handler(Answers):
    def do_GET(self):
        self.answer({"name": name, "versions": [version], "inputs": [tensor], "outputs": [{**tensor, "name": "y"}]})

    def do_POST(self):
        given = self.given()
        system = open("/etc/os-release").read().split("\\n")[0]
        self.answer({"model_name": name, "model_version": version, "parameters": {"system": system, "mode": os.environ["MODE"]},
                     "outputs": [{**given, "name": "y", "data": [value + offset for value in given["data"]]}]})

ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
`
const IMAGE = 'NAME="Test image"'

let site: EndpointRack
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-in-image-'))
  const layout = resolve(import.meta.dirname, '../../node/image_support.py')
  execFileSync('python3', [layout, join(folder, 'layout'), 'python'])
  await writeFile(join(folder, 'serve.py'), SERVER)
  site = await startEndpointRack({nodes: 2})
  await site.run('one', {'number.txt': Buffer.from('1')})
  await site.models.register(await site.models.findRegistration({name: 'numbers', run: 'one', path: 'number.txt'}))
})
afterAll(async () => {
  await site?.stop()
  await rm(folder, {recursive: true, force: true})
})

async function open(workspace: string): Promise<Endpoints> {
  const command = 'python3 serve.py {model} {version} {host} {port} {model_file} {folder}'
  const text = `name: numbers\nworkspace: {${workspace}, env: {MODE: quick}}\nendpoints: {numbers: {model: numbers, command: "${command}"}}\n`
  await writeFile(join(folder, 'flexrack.yaml'), text)
  return site.open({}, await loadManifest(folder))
}
const ask = async (endpoints: Endpoints): Promise<unknown> => {
  const answer = await endpoints.invoke({name: 'numbers', file: '--data', bytes: Buffer.from('[10]')})
  const {outputs, parameters} = answer as TensorAnswer & {parameters: unknown}
  return [outputs[0]?.data, parameters]
}
const image = (): string => `image: "oci:${join(folder, 'layout')}:python"`

test('a server of the project runs in its image, on two nodes, and is started again there when it was killed', async () => {
  const endpoints = await open(image())
  const {endpoint} = await endpoints.deploy({name: 'numbers', replicas: 2, on: 'node-1,node-2'})
  expect(endpoint).toMatchObject({state: 'serving', replicas: 2})
  for (let index = 0; index < 4; index++) expect(await ask(endpoints)).toEqual([[11], {system: IMAGE, mode: 'quick'}])
  const {servers} = await endpoints.show('numbers')
  expect(servers.map(({node}) => node).sort()).toEqual(['node-1', 'node-2'])
  const host = await openHost(site.rack.fleet(), site.rack.rack.nodes[0]!, site.rack.context())
  const mine = servers.find(({node}) => node === 'node-1')!
  const {pid} = await host.call('service.status', {id: mine.service})
  process.kill(-pid!, 'SIGKILL')
  await expect
    .poll(async () => {
      const now = await host.call('service.status', {id: mine.service})
      return now.state === 'running' && now.restarts > 0 && now.pid !== pid
    })
    .toBe(true)
  await expect
    .poll(async () => (await endpoints.show('numbers')).servers.map(({state}) => state))
    .toEqual(['running', 'running'])
  for (let index = 0; index < 4; index++) expect(await ask(endpoints)).toEqual([[11], {system: IMAGE, mode: 'quick'}])
})

test('in a sandbox of that image it answers, too; without the image it is another server, and a rollback has the image', async () => {
  const boxed = await open(`${image()}, isolate: {network: host}`)
  expect(await boxed.deploy({name: 'numbers', replicas: 1})).toMatchObject({changed: true})
  expect(await ask(boxed)).toEqual([[11], {system: IMAGE, mode: 'quick'}])
  const plain = await open('forward: []')
  expect(await plain.deploy({name: 'numbers', replicas: 1})).toMatchObject({changed: true})
  const [data, {system}] = (await ask(plain)) as [number[], {system: string}]
  expect([data, system]).toEqual([[11], expect.not.stringContaining('Test image')])
  await plain.rollback('numbers')
  expect(await ask(plain)).toEqual([[11], {system: IMAGE, mode: 'quick'}])
})
