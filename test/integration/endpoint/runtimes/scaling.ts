import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {EndpointDetails, Endpoints} from '../../../../src/lib/endpoint/index.ts'
import {connectHead} from '../../../../src/lib/head/index.ts'
import {loadManifest} from '../../../../src/lib/manifest/index.ts'
import type {EndpointRack} from '../../../support/endpoint-rack.ts'
import {SCALED_SERVER} from '../../../support/scaled-server.ts'

const MANIFEST = `
name: sleepy
endpoints:
  sleepy:
    model: sleepy
    command: "python3 serve.py {model} {host} {port} {model_file}"
    replicas: 0..3
    scale: {target: 1, idle: 3, down: 3}
`

/** On a rack with a head that all of them use (runtimes.test.ts). */
export function scalingTests(given: () => EndpointRack): void {
  describe('servers that grow and shrink', () => {
    let site: EndpointRack
    let folder: string
    let endpoints: Endpoints
    let address: {url: string; token: string}

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'flexrack-sleepy-'))
      await writeFile(join(folder, 'serve.py'), SCALED_SERVER)
      await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
      site = given()
      endpoints = await site.open({}, await loadManifest(folder))
      await site.run('sleepy-one', {'number.txt': Buffer.from('1')})
      await site.models.register(
        await site.models.findRegistration({name: 'sleepy', run: 'sleepy-one', path: 'number.txt'}),
      )
    })

    afterAll(async () => {
      await rm(folder, {recursive: true, force: true})
    })

    /** One request, past the command line. Its model takes that many milliseconds. */
    async function ask(milliseconds = 0): Promise<{status: number; pid: number; ms: number; retry: string | null}> {
      const begin = performance.now()
      const answer = await fetch(`${address.url}/v2/models/sleepy/infer`, {
        method: 'POST',
        headers: {authorization: `Bearer ${address.token}`, 'content-type': 'application/json'},
        body: JSON.stringify({inputs: [{name: 'x', datatype: 'FP32', shape: [1], data: [milliseconds]}]}),
      })
      const text = await answer.text()
      const pid = answer.ok ? (JSON.parse(text) as {parameters: {pid: number}}).parameters.pid : 0
      return {status: answer.status, pid, ms: performance.now() - begin, retry: answer.headers.get('retry-after')}
    }

    /** What `endpoint show` says, once it is so. */
    async function shown(isSo: (now: EndpointDetails) => boolean, what: string): Promise<EndpointDetails> {
      const until = Date.now() + 60_000
      for (;;) {
        const now = await endpoints.show('sleepy')
        if (isSo(now)) return now
        if (Date.now() > until) throw new Error(`not in a minute: ${what}; ${JSON.stringify(now.scaling, null, 1)}`)
        await sleep(200)
      }
    }

    test('a deploy starts one server, and prepares the others on both nodes, with an agent each', async () => {
      const plan = await endpoints.planDeploy({name: 'sleepy', on: 'node-1,node-2'})
      const kinds = (kind: string): string[] => plan.steps.flatMap((step) => (step.kind === kind ? [step.id] : []))
      expect(kinds('endpoint.start')).toEqual(['start:endpoint-sleepy-r1-0'])
      expect(kinds('endpoint.prepare')).toEqual(['prepare:endpoint-sleepy-r1-1', 'prepare:endpoint-sleepy-r1-2'])
      expect(kinds('endpoint.agent')).toEqual(['agent:node-1', 'agent:node-2'])
      const {endpoint} = await endpoints.deploy({name: 'sleepy', on: 'node-1,node-2'})
      expect(endpoint).toMatchObject({state: 'serving', range: {min: 0, max: 3}})
      const head = await connectHead(site.rack.rack, site.rack.fleet(), site.rack.context())
      address = {url: `${head.uri}/endpoints/sleepy`, token: (await endpoints.token('sleepy')).reveal()}
    })

    test('nobody asks: no server runs, and it is not failing; a request starts one and is answered by it', async () => {
      // None is wanted a moment before the last one has ended.
      const asleep = await shown(
        ({state, servers}) => state === 'asleep' && servers.every((one) => one.state === 'stopped'),
        'asleep',
      )
      expect(asleep.servers.map(({state}) => state)).toEqual(['stopped', 'stopped', 'stopped'])
      const {status, ms} = await ask()
      expect(status).toBe(200)
      console.log(`from zero ${ms.toFixed(0)} ms, at the deploy ${asleep.scaling?.startSeconds} s`)
      expect((await shown(({state}) => state === 'serving', 'awake')).scaling?.wakes).toBe(1)
    })

    test('under load there are more, on both nodes; a killed one loses no request; then fewer, and none', async () => {
      const answers: Awaited<ReturnType<typeof ask>>[] = []
      let isEnough = false
      const busy = Array.from({length: 6}, async () => {
        while (!isEnough) answers.push(await ask(100))
      })
      try {
        const many = await shown(({scaling}) => scaling?.ready === 3, 'three are ready')
        expect(new Set(many.servers.map(({node}) => node)).size).toBe(2)
        process.kill((await ask()).pid, 'SIGKILL')
        const before = answers.length
        while (answers.length < before + 60) await sleep(50)
      } finally {
        isEnough = true
        await Promise.all(busy)
      }
      expect(answers.filter(({status}) => status !== 200)).toEqual([])
      expect(new Set(answers.map(({pid}) => pid)).size).toBeGreaterThanOrEqual(3)
      const asleep = await shown(({state}) => state === 'asleep', 'asleep again')
      expect(asleep.scaling?.events.map(({text}) => text).join('\n')).toMatch(/to 0 servers: no request for 3 s/)
    })

    test('it is rolled out anew, scaled to a number and back, and removed with its agents', async () => {
      await writeFile(join(folder, 'serve.py'), `${SCALED_SERVER}\n# other\n`)
      expect(await endpoints.deploy({name: 'sleepy', on: 'node-1,node-2'})).toMatchObject({changed: true})
      expect((await ask()).status).toBe(200)
      await endpoints.rollback('sleepy')
      expect((await ask()).status).toBe(200)
      const fixed = await endpoints.scale('sleepy', 2)
      expect(fixed.endpoint).toMatchObject({replicas: 2, range: undefined, state: 'serving'})
      expect((await ask()).status).toBe(200)
      const range = await endpoints.scale('sleepy', {replicas: 2, minReplicas: 1})
      expect(range.endpoint.range).toEqual({min: 1, max: 2})
      expect((await ask()).status).toBe(200)
      await endpoints.remove('sleepy')
      const {openHost} = await import('../../../../src/lib/host/index.ts')
      for (const node of site.rack.rack.nodes) {
        const host = await openHost(site.rack.fleet(), node, site.rack.context())
        expect((await host.call('service.list', {prefix: 'serving'})).map(({id}) => id)).toEqual([])
        expect((await host.call('service.list', {prefix: 'endpoint-'})).map(({id}) => id)).toEqual([])
      }
    })
  })
}
