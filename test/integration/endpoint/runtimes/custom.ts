import {execFileSync} from 'node:child_process'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {Endpoints, TensorAnswer} from '../../../../src/lib/endpoint/index.ts'
import {signModel, why} from '../../../../src/lib/lineage/index.ts'
import {openHost} from '../../../../src/lib/host/index.ts'
import {loadManifest} from '../../../../src/lib/manifest/index.ts'
import {recordedRun} from '../../../support/recorded-run.ts'
import {INFER_HANDLER} from '../../../support/infer-handler.ts'
import type {EndpointRack} from '../../../support/endpoint-rack.ts'

/** A model server of a project's own: Open Inference v2 by Python's standard library; the model is a number in a file. */
const SERVER = `${INFER_HANDLER}
import os, sys
from steps import STEP

name, version, host, port, path = sys.argv[1:]
offset = float(open(path).read())
tensor = {"name": "x", "datatype": "FP32", "shape": [-1]}

class Handler(Answers):
    def do_GET(self):
        self.answer({"name": name, "versions": [version], "inputs": [tensor], "outputs": [{**tensor, "name": "y"}]})

    def do_POST(self):
        given = self.given()
        data = [STEP * (value + offset) for value in given["data"]]
        self.answer({"model_name": name, "model_version": version, "outputs": [{**given, "name": "y", "data": data}],
                     "parameters": {"folder": os.getcwd(), "mode": os.environ["MODE"]}})

ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
`
const MANIFEST = `
name: numbers
workspace: {env: {MODE: quick}}
endpoints:
  numbers: {model: numbers@production, command: "python3 serve.py {model} {version} {host} {port} {model_file}"}
  twin: {model: numbers@production, command: "python3 serve.py {model} {version} {host} {port} {model_file}"}
  broken: {model: numbers, command: [python3, serve.py, "{nothing}"]}
  silent: {model: numbers, command: [python3, -c, "print('no such thing'); raise SystemExit(3)"]}
`

/** On a rack with a head that all of them use (runtimes.test.ts). */
export function customTests(given: () => EndpointRack): void {
  describe('servers of a project', () => {
    let site: EndpointRack
    let folder: string
    let endpoints: Endpoints

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'flexrack-numbers-'))
      await writeFile(join(folder, 'serve.py'), SERVER)
      await writeFile(join(folder, 'steps.py'), 'STEP = 1\n')
      await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
      site = given()
      endpoints = await site.open({}, await loadManifest(folder))
      for (const [run, number] of [
        ['one', '1'],
        ['two', '2'],
      ] as const) {
        await site.run(run, {'number.txt': Buffer.from(number), 'other.txt': Buffer.from('else')})
        await site.models.register(
          await site.models.findRegistration({name: 'numbers', run, path: 'number.txt', alias: 'production'}),
        )
      }
    })

    afterAll(async () => {
      await rm(folder, {recursive: true, force: true})
    })

    const ask = async (): Promise<TensorAnswer & {parameters: Record<string, string>}> =>
      (await endpoints.invoke({name: 'numbers', file: '--data', bytes: Buffer.from('[10]')})) as never
    const answered = async (): Promise<unknown> => (await ask()).outputs[0]?.data

    /** Which pages may call it is told the gateway, and the servers go on. */
    async function expectOnlyTold(cors: string[]): Promise<void> {
      const manifest = await loadManifest(folder)
      const numbers = {...manifest.endpoints.numbers!, cors}
      const open = await site.open({}, {...manifest, endpoints: {...manifest.endpoints, numbers}})
      const servers = async (): Promise<unknown> =>
        (await open.show('numbers')).servers.map(({service, served}) => [service, served > 0])
      const before = await servers()
      expect((await open.planDeploy({name: 'numbers'})).steps.map(({id}) => id)).toEqual(['switch'])
      expect(await open.deploy({name: 'numbers'})).toMatchObject({changed: true, endpoint: {release: 'r1'}})
      expect(await open.deploy({name: 'numbers'})).toMatchObject({changed: false})
      expect((await open.show('numbers')).cors).toEqual(cors)
      expect(await servers()).toEqual(before)
      expect(await answered()).toEqual([12])
    }

    test('a command of the project answers on a port that it is told, with the code as it was deployed', async () => {
      const plan = await endpoints.planDeploy({name: 'numbers'})
      expect(plan.steps.map(({id, needs}) => [id, needs])).toEqual([
        ['sync:node-1', []],
        ['environment:node-1', []],
        ['fetch', []],
        ['code:node-1', ['sync:node-1', 'environment:node-1']],
        ['place:node-1', ['fetch']],
        ['start:endpoint-numbers-r1-0', ['code:node-1', 'place:node-1']],
        ['ready:endpoint-numbers-r1-0', ['start:endpoint-numbers-r1-0']],
        ['switch', ['ready:endpoint-numbers-r1-0']],
      ])
      const {endpoint, document} = await endpoints.deploy({name: 'numbers'})
      expect(endpoint).toMatchObject({state: 'serving', model: 'numbers/2', protocol: 'v2'})
      expect(document.releases[0]).toMatchObject({
        runtime: 'custom',
        custom: {places: {'node-1': {project: 'numbers'}}},
      })
      expect(await ask()).toMatchObject({
        outputs: [{data: [12]}],
        parameters: {folder: expect.stringMatching(/endpoints\/numbers\/r1\/code$/) as string, mode: 'quick'},
      })
    })

    test('deployed again it changes nothing; with other code it is another release, and a rollback has the old code', async () => {
      expect(await endpoints.deploy({name: 'numbers'})).toMatchObject({changed: false})
      await expectOnlyTold(['https://app.example'])
      await writeFile(join(folder, 'steps.py'), 'STEP = 100\n')
      expect(await endpoints.deploy({name: 'numbers'})).toMatchObject({changed: true, endpoint: {release: 'r2'}})
      expect(await answered()).toEqual([1200])
      const plan = await endpoints.planRollback('numbers')
      expect(plan.steps.map(({kind}) => kind)).not.toContain('endpoint.code')
      await endpoints.rollback('numbers')
      expect(await answered()).toEqual([12])
    })

    test('more servers share the work, and the environment is not removed as unused while they run', async () => {
      await endpoints.scale('numbers', 2)
      expect((await endpoints.show('numbers')).servers.map(({state}) => state)).toEqual(['running', 'running'])
      for (let index = 0; index < 4; index++) expect(await answered()).toEqual([12])
      const host = await openHost(site.rack.fleet(), site.rack.rack.nodes[0]!, site.rack.context())
      const hash = (await endpoints.show('numbers')).releases.at(-1)?.custom?.places['node-1']?.environment?.hash
      const environment = (await host.call('environment.list', null)).find((one) => one.hash === hash)
      expect(environment?.users.map(({user}) => user)).toContain('endpoint:numbers')
    })

    test('several endpoints switch at the same moment, or none of them does', async () => {
      const both = [
        {name: 'numbers', force: true},
        {name: 'twin', force: false},
      ]
      const {steps} = await endpoints.planDeployTogether(both)
      const ready = steps.filter(({kind}) => kind === 'endpoint.ready').length
      expect(ready).toBeGreaterThanOrEqual(2)
      const switches = steps.filter(({kind}) => kind === 'endpoint.switch')
      expect(switches.map(({id, needs}) => [id, needs.filter((one) => one.includes('/ready:')).length])).toEqual([
        ['numbers/switch', ready],
        ['twin/switch', ready],
      ])
      expect((await endpoints.deployTogether(both)).map(({changed, endpoint}) => [changed, endpoint.name])).toEqual([
        [true, 'numbers'],
        [true, 'twin'],
      ])
      expect(await answered()).toEqual([1200])
      const before = await servicesOf('endpoint-')
      const failed = endpoints.deployTogether(
        [...both, {name: 'silent', force: false}].map((one) => ({...one, force: true})),
      )
      await expect(failed).rejects.toMatchObject({code: 'ENDPOINT_FAILED', message: expect.stringContaining('silent')})
      expect(await servicesOf('endpoint-')).toEqual(before)
      expect(await answered()).toEqual([1200])
      expect((await endpoints.list()).map(({name, state}) => [name, state])).toEqual([
        ['numbers', 'serving'],
        ['silent', 'down'],
        ['twin', 'serving'],
      ])
      await endpoints.remove('twin')
      await endpoints.remove('silent')
    })

    /** Ids of the services on the first node. */
    async function servicesOf(prefix: string): Promise<string[]> {
      const host = await openHost(site.rack.fleet(), site.rack.rack.nodes[0]!, site.rack.context())
      return (await host.call('service.list', {prefix})).map(({id}) => id).sort()
    }

    test('a model is deployed once an allowed person has signed it; why goes back from its server, and names what was changed', async () => {
      for (const who of ['ada', 'eve'])
        execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', who, '-f', join(folder, `key-${who}`)])
      await writeFile(join(folder, 'signers'), `ada@lab ${await readFile(join(folder, 'key-ada.pub'), 'utf8')}`)
      await writeFile(
        join(folder, 'flexrack.yaml'),
        MANIFEST.replace(
          'numbers: {model: numbers@production,',
          'numbers: {model: signed, require: {signed: signers},',
        ),
      )
      const run = await recordedRun(site.tracking, 'signed-abcde', {'number.txt': '3'})
      await site.models.register(await site.models.findRegistration({name: 'signed', run, path: 'number.txt'}))
      const strict = await site.open({}, await loadManifest(folder))
      const {mlflow} = site.tracking
      const place = {
        rack: site.rack.rack,
        fleet: site.rack.fleet(),
        mlflow,
        endpoints: strict,
        signers: join(folder, 'signers'),
      }
      const refused = (why: string) =>
        expect(strict.planDeploy({name: 'numbers'})).rejects.toMatchObject({
          code: 'CHECK_FAILED',
          message: expect.stringContaining(why) as string,
          hint: expect.stringContaining('flexrack model sign signed/1') as string,
        })
      await refused('nobody has signed it')
      await signModel('signed', join(folder, 'key-eve'), place, site.rack.context())
      await refused('no allowed signer has signed it')
      await signModel('signed', join(folder, 'key-ada'), place, site.rack.context())
      await strict.deploy({name: 'numbers', replicas: 1})
      expect(await answered()).toEqual([1300])

      const look = async () => (await why('numbers', true, place, site.rack.context())).broken
      expect(await look()).toBeNull()
      const {release, servers} = await strict.show('numbers')
      const host = await openHost(site.rack.fleet(), site.rack.rack.nodes[0]!, site.rack.context())
      const file = join(host.root, 'endpoints', 'numbers', release as string, 'model', 'number.txt')
      expect(servers[0]?.node).toBe('node-1')
      await writeFile(file, '4')
      expect(await look()).toMatchObject({
        arrow: `endpoint numbers -> release ${release}`,
        why: expect.stringContaining('node-1') as string,
      })
      await writeFile(file, '3')
      await mlflow.setVersionTag('signed', '1', 'flexrack.sha256', 'f'.repeat(64))
      expect(await look()).toMatchObject({arrow: `release ${release} -> model signed/1`})
      await refused('another file than the one that is signed')
    })

    test('it runs in the sandbox of the workspace, which shows it the model; without network nobody would reach it', async () => {
      const given = MANIFEST.replace('env: {', 'isolate: {network: host}, env: {')
      await writeFile(join(folder, 'flexrack.yaml'), given)
      const boxed = await site.open({}, await loadManifest(folder))
      // it is another server, as its sandbox is
      expect(await boxed.deploy({name: 'numbers', replicas: 1})).toMatchObject({changed: true})
      const {servers} = await boxed.show('numbers')
      const host = await openHost(site.rack.fleet(), site.rack.rack.nodes[0]!, site.rack.context())
      const {pid} = await host.call('service.status', {id: servers[0]!.service})
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toContain('isolate')
      expect((await ask()).parameters.folder).toMatch(/endpoints\/numbers\/r\d+\/code$/)
      await writeFile(join(folder, 'flexrack.yaml'), given.replace('network: host', 'network: none'))
      const closed = await site.open({}, await loadManifest(folder))
      await expect(closed.planDeploy({name: 'numbers'})).rejects.toMatchObject({code: 'USAGE'})
    })

    test('a wrong placeholder, a command that ends and a missing command are told, and nothing is left', async () => {
      await expect(endpoints.deploy({name: 'broken'})).rejects.toMatchObject({
        code: 'RECIPE_INVALID',
        message: expect.stringContaining('{nothing}') as string,
      })
      await expect(endpoints.deploy({name: 'silent'})).rejects.toMatchObject({
        code: 'ENDPOINT_FAILED',
        details: {lines: expect.arrayContaining(['no such thing']) as string[]},
      })
      await expect(endpoints.deploy({name: 'other', model: 'numbers', runtime: 'custom'})).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringContaining('needs a command') as string,
      })
      expect((await endpoints.list()).find(({name}) => name === 'broken')).toMatchObject({state: 'down'})
    })
  })
}
