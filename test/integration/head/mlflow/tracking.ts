import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {get} from 'node:http'
import {createInterface} from 'node:readline'
import {fileURLToPath, pathToFileURL} from 'node:url'
import {createHash, randomBytes} from 'node:crypto'
import {mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {leadOn} from '../../../../src/cli/head/ui.ts'
import {Secret} from '../../../../src/lib/base/index.ts'
import {openMlflow} from '../../../../src/lib/tracking/index.ts'
import {answerOf, runAccess, startClient, type RunAccess, type TestHead} from '../../../support/head.ts'
import {renderPage} from '../../../support/browser.ts'
import {buildProgram} from '../../../support/program.ts'
import {startRelay} from '../../../support/relay.ts'

/** Of a head that several files use (mlflow.test.ts). */
export function trackingTests(given: () => TestHead): void {
  describe('tracking', () => {
    let head: TestHead
    let folder: string
    let experiment: string

    beforeAll(async () => {
      buildProgram()
      head = given()
      folder = await mkdtemp(join(tmpdir(), 'flexrack-tracking-'))
      experiment = (await head.mlflow.ensureExperiment('digits')).id
      await mkdir(join(folder, 'files'))
      await writeFile(join(folder, 'files', 'große Datei.bin'), randomBytes(6 * 1024 * 1024))
      await writeFile(join(folder, 'files', 'empty'), '')
      await writeFile(join(folder, 'files', 'a b&c=d.txt'), 'text')
    })
    afterAll(async () => {
      if (folder) await rm(folder, {recursive: true, force: true})
    })

    /** A run and what a rank of it is given. */
    const makeRun = (name: string): Promise<RunAccess> => runAccess(head, 'digits', name, {'flexrack.run': name})

    interface Everything {
      refused: string
      inner: string
      predicted: number[]
      history: [number, number][]
      same: Record<string, boolean>
    }

    describe('the official MLflow client', () => {
      for (const way of ['the head', 'the relay']) {
        test(`logs parameters, metrics, files, nested runs and a model through ${way}, and loads the model by its alias`, async () => {
          const run = await makeRun(`everything-${way}`)
          const relay =
            way === 'the relay'
              ? await startRelay({
                  spool: join(folder, 'spool'),
                  upstream: head.connection.nodeUri,
                  caFile: head.caFile,
                  token: run.token,
                  runId: run.id,
                })
              : undefined
          const env = relay ? {...run.env, MLFLOW_TRACKING_URI: relay.uri} : run.env
          const answer = await answerOf<Everything>(
            startClient(head.python, ['everything', join(folder, 'files')], env),
          )
          expect(answer.refused).toBe('INVALID_PARAMETER_VALUE')
          expect(answer.predicted).toEqual([2, 4, 6])
          expect(answer.history.toSorted(([a], [b]) => a - b)).toEqual([
            [0, 1.5],
            [1, 1],
            [2, 0.5],
            [3, 0.333333],
          ])
          expect(answer.same).toEqual({'große Datei.bin': true, empty: true, 'a b&c=d.txt': true})
          expect(relay ? await relay.close() : {pending: 0, rejected: 0}).toMatchObject({pending: 0, rejected: 0})
          expect(relay?.events ?? []).toEqual([])

          const seen = await head.mlflow.getRun(run.id)
          expect(seen).toMatchObject({status: 'FINISHED', params: {rate: '0.1', größe: 'klein'}})
          expect(seen.metrics.loss).toMatchObject({step: 3})
          expect(seen.metrics.odd?.value).toBeNaN()
          expect((await head.mlflow.getRun(answer.inner)).tags['mlflow.parentRunId']).toBe(run.id)
          await rm(join(folder, 'files-back'), {recursive: true})
        })
      }

      test('cannot write anywhere but into its own run', async () => {
        const [mine, other] = [await makeRun('mine'), await makeRun('other')]
        const codes = await answerOf<Record<string, string>>(startClient(head.python, ['refused', other.id], mine.env))
        expect(codes).toEqual({
          metric: 'PERMISSION_DENIED',
          param: 'PERMISSION_DENIED',
          tag: 'PERMISSION_DENIED',
          end: 'PERMISSION_DENIED',
          delete: 'PERMISSION_DENIED',
          artifact: '403',
          create: 'ACCEPTED',
          experiment: 'ACCEPTED',
          model: 'PERMISSION_DENIED',
        })
        // What it made in an experiment of others is nested in it, in its own; what it called an experiment is a name that
        // it has asked for.
        expect(await head.mlflow.searchRuns({experimentIds: ['0']})).toEqual([])
        expect(
          await head.mlflow.searchRuns({
            experimentIds: [experiment],
            filter: `tags.\`mlflow.parentRunId\` = '${mine.id}'`,
          }),
        ).toHaveLength(1)
        expect(await head.mlflow.findExperiment('another')).toBeUndefined()
        expect((await head.mlflow.getRun(mine.id)).tags).toMatchObject({'flexrack.asked_experiments': 'another'})
        expect(await head.mlflow.getRun(other.id)).toMatchObject({status: 'RUNNING', metrics: {}, params: {}})
      })
    })

    describe('our own client', () => {
      test('writes and reads what the official one does: files with their hash, batches of any size, history in pages', async () => {
        const run = await makeRun('ours')
        const file = join(folder, 'files', 'große Datei.bin')
        const sent = await head.mlflow.uploadArtifact(run.id, 'unter ordner/große Datei.bin', file)
        expect(sent).toEqual({
          bytes: 6 * 1024 * 1024,
          sha256: createHash('sha256')
            .update(await readFile(file))
            .digest('hex'),
        })
        await head.mlflow.uploadArtifact(run.id, 'empty', join(folder, 'files', 'empty'))
        expect(await head.mlflow.walkArtifacts(run.id)).toEqual([
          {path: 'empty', isFolder: false, size: 0},
          {path: 'unter ordner/große Datei.bin', isFolder: false, size: sent.bytes},
        ])
        expect(
          await head.mlflow.downloadArtifact(run.id, 'unter ordner/große Datei.bin', join(folder, 'back.bin')),
        ).toEqual(sent)

        const metrics = Array.from({length: 1700}, (_, step) => ({
          key: 'loss',
          value: step / 2,
          timestamp: 1_700_000_000_000 + step,
          step,
        }))
        const params = Object.fromEntries(Array.from({length: 150}, (_, index) => [`p${index}`, String(index)]))
        await head.mlflow.logBatch(run.id, {metrics, params, tags: {a: 'b'}})
        await head.mlflow.logBatch(run.id, {metrics: metrics.slice(0, 5)}) // the same again changes nothing
        expect(await head.mlflow.metricHistory(run.id, 'loss')).toEqual(metrics)
        expect(Object.keys((await head.mlflow.getRun(run.id)).params)).toHaveLength(150)
      })

      test('reads the registry: the version that an alias names, its files, and the model it was logged as', async () => {
        const version = await head.mlflow.getVersionByAlias('doubler', 'production')
        expect(version).toMatchObject({name: 'doubler', status: 'READY'})
        const uri = await head.mlflow.versionUri('doubler', version.version)
        expect((await head.mlflow.walkStored(uri)).map((entry) => entry.path)).toContain('MLmodel')
        await head.mlflow.downloadStored(uri, 'MLmodel', join(folder, 'MLmodel'))
        expect(await readFile(join(folder, 'MLmodel'), 'utf8')).toContain('python_function')
        const logged = await head.mlflow.loggedModels(experiment, version.runId!)
        expect(logged.map((model) => model.id)).toContain(version.modelId)
      })

      test('says what is wrong in the words of the error table', async () => {
        await expect(head.mlflow.getRun('0'.repeat(32))).rejects.toMatchObject({code: 'NOT_FOUND'})
        await expect(
          openMlflow({uri: head.connection.uri, token: new Secret('run.x.y')}).getRun('x'),
        ).rejects.toMatchObject({code: 'REFUSED'})
        await expect(openMlflow({uri: head.connection.uri}).version()).rejects.toMatchObject({code: 'REFUSED'})
      })
    })

    /** Status of a GET whose headers are exactly these. */
    function statusAt(url: string, headers: Record<string, string>): Promise<number | undefined> {
      return new Promise((resolve, reject) =>
        get(url, {headers}, (answer) => resolve(answer.resume().statusCode)).on('error', reject),
      )
    }

    test("MLflow's socket opens to its owner alone", async () => {
      const socket = await stat(join(head.host.root, 'head', 'mlflow.sock'))
      expect(socket.isSocket()).toBe(true)
      expect(socket.mode & 0o777).toBe(0o600)
    })

    test('head ui prints a link through a forward of its own, and ends with Ctrl-C, the browser with it', async () => {
      const program = fileURLToPath(new URL('../../../../bin/run.js', import.meta.url))
      const child = spawn(process.execPath, [program, 'head', 'ui', '--json'], {
        env: head.rack.env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [line] = (await once(createInterface({input: child.stdout}), 'line')) as [string]
      const {url} = JSON.parse(line) as {url: string}
      const login = await fetch(url, {redirect: 'manual'})
      expect(login.status).toBe(200)
      const cookie = login.headers.get('set-cookie')!.split(';')[0]!
      const {host, origin} = new URL(url)
      // What it asks of nodes is answered by this very `head ui`.
      const page = await (await fetch(`${origin}/flexrack/ui/`, {headers: {cookie}})).text()
      expect(page).toMatch(new RegExp(`<a class="node-name"[^>]*>${head.rack.rack.nodes[0]!.name}</a>`))
      expect((await fetch(origin, {headers: {cookie}})).status, "MLflow's pages are at another address").toBe(403)
      const lead = await fetch(`${origin}/flexrack/ui/mlflow`, {headers: {cookie}, redirect: 'manual'})
      const mlflow = new URL(lead.headers.get('location')!)
      const second = (await fetch(mlflow, {redirect: 'manual'})).headers.get('set-cookie')!.split(';')[0]!
      expect(await (await fetch(mlflow.origin, {headers: {cookie: second}})).text()).toContain('<title>MLflow</title>')
      // browsers send it to every port; it is good at its own
      expect((await fetch(head.connection.uri, {headers: {cookie}})).status).toBe(401)
      expect(await statusAt(`${head.connection.uri}/flexrack/ui/audit`, {cookie, host})).toBe(200)
      child.kill('SIGINT')
      expect(await once(child, 'close')).toEqual([0, null])
      await expect(fetch(url)).rejects.toThrow('fetch failed')
      expect(await statusAt(head.connection.uri, {cookie, host})).toBe(401)
    })

    test("a real browser shows MLflow's pages behind the head, with the runs in them", async () => {
      await makeRun('seen-in-a-browser')
      const {path} = await head.connection.request<{path: string}>('POST', '/flexrack/v1/login-codes')
      const file = join(folder, 'link.html') // as `head ui --open` gives it to the browser
      await writeFile(file, leadOn(`${head.connection.uri}${path}#/experiments/${experiment}/runs`))
      const page = await renderPage(pathToFileURL(file).href)
      expect(page).toContain('seen-in-a-browser')
    })

    describe('tokens', () => {
      test('a token that was revoked, or that its run gave back, opens nothing any more', async () => {
        const run = await makeRun('revoked')
        const mine = openMlflow({uri: head.connection.uri, token: new Secret(run.token)})
        expect((await mine.getRun(run.id)).id).toBe(run.id)
        await head.connection.request('DELETE', `/flexrack/v1/tokens/${run.tokenId}`)
        await expect(mine.getRun(run.id)).rejects.toMatchObject({code: 'REFUSED'})
      })

      test("a run's token opens neither the head's own API nor endpoints", async () => {
        const {token} = await makeRun('no-admin')
        for (const path of [
          '/flexrack/v1/status',
          '/flexrack/v1/endpoints',
          '/flexrack/v1/login-codes',
          '/endpoints/digits/v2/health/ready',
        ]) {
          expect((await fetch(head.connection.uri + path, {headers: {authorization: `Bearer ${token}`}})).status).toBe(
            403,
          )
        }
      })

      test('a browser gets in with a link that works once, sees the pages, and cannot be used by other pages', async () => {
        const {path} = await head.connection.request<{path: string}>('POST', '/flexrack/v1/login-codes')
        const login = await fetch(head.connection.uri + path, {redirect: 'manual'})
        expect(login.status).toBe(200)
        const cookie = login.headers.get('set-cookie')!
        expect(cookie).toMatch(/HttpOnly; SameSite=Strict/)
        const headers = {cookie: cookie.split(';')[0]!}
        const page = await fetch(head.connection.uri, {headers})
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>MLflow</title>')])
        const search = (origin: string): Promise<Response> =>
          fetch(`${head.connection.uri}/ajax-api/2.0/mlflow/experiments/search`, {
            method: 'POST',
            headers: {...headers, origin, 'content-type': 'application/json'},
            body: '{"max_results": 5}',
          })
        expect((await search(head.connection.uri)).status).toBe(200)
        expect((await search('http://elsewhere.example')).status).toBe(403)
        expect((await fetch(`${head.connection.uri}/flexrack/v1/status`, {headers})).status).toBe(403)
        expect((await fetch(head.connection.uri + path, {redirect: 'manual'})).status).toBe(403)
        expect((await fetch(head.connection.uri)).status).toBe(401)
      })
    })
  })
}
