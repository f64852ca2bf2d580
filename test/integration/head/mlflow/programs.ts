import {execFile, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readFile, rm, stat} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {TestHead} from '../../../support/head.ts'
import {buildProgram} from '../../../support/program.ts'
import {playProgram} from '../../../support/programs.ts'

/** Of a head that several files use (mlflow.test.ts). */
export function programsTests(given: () => TestHead): void {
  describe('programs', () => {
    const run = promisify(execFile)
    const FLEXRACK = fileURLToPath(new URL('../../../../bin/run.js', import.meta.url))
    let head: TestHead
    let folder: string

    beforeAll(async () => {
      buildProgram()
      head = given()
      folder = await mkdtemp(join(tmpdir(), 'flexrack-programs-'))
    })
    afterAll(async () => {
      if (folder) await rm(folder, {recursive: true, force: true})
    })

    describe('programs that were written for a server of their own, unmodified', () => {
      test('MlflowClient by hand: its experiment is a name, its run is this one, and what it deletes of its own is gone', async () => {
        const {run, nested, files} = await playProgram(head, head.python, 'client')
        expect(run).toMatchObject({
          name: 'by hand',
          status: 'FINISHED',
          params: {rate: '0.1'},
          tags: {team: 'vision', 'flexrack.asked_experiments': 'by-hand'},
        })
        expect(run.metrics.loss).toMatchObject({step: 2})
        expect(files).toEqual(['model/model.txt'])
        expect(nested).toEqual([])
      })

      test('ranks that all log give one run', async () => {
        const {run, nested, files} = await playProgram(head, head.python, 'ranks', 2)
        expect(run).toMatchObject({name: 'together', status: 'FINISHED', params: {world_size: '2'}})
        expect(Object.keys(run.metrics).toSorted((a, b) => a.localeCompare(b))).toEqual(['loss', 'loss_0', 'loss_1'])
        expect(files).toEqual(['model-0.txt', 'model-1.txt'])
        expect(nested).toEqual([])
      })

      test(
        "scikit-learn's autolog: the first fit is the run, with its model; a search is nested in it, its trials in that",
        {timeout: 600_000},
        async () => {
          const {run, nested, models} = await playProgram(head, head.python, 'sklearn')
          expect(run).toMatchObject({
            status: 'FINISHED',
            params: {C: '0.5'},
            tags: {estimator_name: 'LogisticRegression'},
          })
          expect(run.metrics.training_accuracy_score?.value).toBeGreaterThan(0.9)
          expect(models).toEqual(['model'])
          expect(nested.map((one) => [one.name, one.status])).toEqual([['search', 'FINISHED']])
          expect(
            await head.mlflow.searchRuns({
              experimentIds: [nested[0]!.experimentId],
              filter: `tags.\`mlflow.parentRunId\` = '${nested[0]!.id}'`,
            }),
          ).toHaveLength(2)
        },
      )
    })

    /** Of a client as on another machine: nothing of flexrack in its environment, and a home of its own. */
    const NOTEBOOK = `
import json, mlflow, os
with mlflow.start_run(run_name="notebook") as run:
    mlflow.log_metric("score", 0.5)
    mlflow.log_text("cells", "notebook.txt")
found = mlflow.search_runs(output_format="list")
print(json.dumps({"run": run.info.run_id, "found": [one.info.run_name for one in found], "uri": mlflow.get_tracking_uri()}))
`
    const flexrack = async (...args: string[]): Promise<string> =>
      (await run(process.execPath, [FLEXRACK, ...args], {env: head.rack.env, cwd: folder})).stdout
    interface Seen {
      run: string
      found: string[]
      uri: string
    }

    /** Runs the notebook in a shell that has evaluated these lines, and nothing else of ours. */
    async function playNotebook(lines: string, more: Record<string, string> = {}): Promise<Seen> {
      const home = await mkdtemp(join(folder, 'home-'))
      const env = {
        PATH: process.env.PATH,
        HOME: home,
        MLFLOW_DISABLE_TELEMETRY: 'true',
        MLFLOW_HTTP_REQUEST_MAX_RETRIES: '1',
        PYTHON: head.python,
        NOTEBOOK,
        ...more,
      }
      const {stdout} = await run('sh', ['-c', `umask 077; ${lines}\n"$PYTHON" -c "$NOTEBOOK"`], {env, cwd: home})
      return JSON.parse(stdout.trim().split('\n').at(-1)!) as Seen
    }

    describe('a notebook, or another machine', () => {
      test(
        'logs with what `tracking env` prints, over TLS and only with these certificates, until its token is ended',
        {timeout: 600_000},
        async () => {
          const lines = await flexrack('tracking', 'env', '--name', 'a notebook')
          const seen = await playNotebook(lines)
          expect(seen.uri).toBe(head.connection.nodeUri)
          expect(seen.uri).toMatch(/^https:/)
          expect(seen.found).toEqual(['notebook'])
          expect(await head.mlflow.getRun(seen.run)).toMatchObject({status: 'FINISHED', metrics: {score: {value: 0.5}}})
          await expect(playNotebook(`${lines}unset MLFLOW_TRACKING_SERVER_CERT_PATH`)).rejects.toThrow(/certificate/i)

          await expect(
            playNotebook(lines, {
              NOTEBOOK: 'import mlflow; mlflow.create_experiment("elsewhere", artifact_location="file:///etc")',
            }),
          ).rejects.toThrow(/personal token: artifacts of an experiment lie/)

          const tokens = JSON.parse(await flexrack('tracking', 'tokens', '--json')) as {
            id: string
            name: string
            createdAt: number
            expiresAt: number
          }[]
          expect(tokens.map((one) => [one.name, Math.round((one.expiresAt - one.createdAt) / 86_400_000)])).toEqual([
            ['a notebook', 7],
          ])
          expect(await flexrack('tracking', 'tokens', '--end', 'all', '--dry-run')).toContain(
            `End the token ${tokens[0]!.id} ("a notebook")`,
          )
          expect(await flexrack('tracking', 'tokens', '--end', tokens[0]!.id)).toBe(
            `Ended ${tokens[0]!.id} ("a notebook").\n`,
          )
          expect(await flexrack('tracking', 'tokens')).toContain('No personal tokens')
          await expect(playNotebook(lines)).rejects.toThrow(/revoked or expired/)
        },
      )

      test('gets the certificates with --elsewhere, into a file of its own', {timeout: 600_000}, async () => {
        const lines = await flexrack('tracking', 'env', '--elsewhere', '--for', '1h')
        expect(lines).not.toContain(head.rack.home)
        expect((await playNotebook(lines)).uri).toBe(head.connection.nodeUri)
        const home = await mkdtemp(join(folder, 'home-'))
        const {stdout} = await run('sh', ['-c', `umask 077; ${lines}\necho "$MLFLOW_TRACKING_SERVER_CERT_PATH"`], {
          env: {HOME: home, PATH: process.env.PATH},
        })
        expect((await stat(stdout.trim())).mode & 0o777).toBe(0o600)
        expect(await readFile(stdout.trim(), 'utf8')).toBe(await readFile(head.caFile, 'utf8'))
      })

      test(
        'has a way through SSH with --forward, which ends with its token at Ctrl-C',
        {timeout: 600_000},
        async () => {
          const child = spawn(process.execPath, [FLEXRACK, 'tracking', 'env', '--forward', '--json'], {
            env: head.rack.env,
            cwd: folder,
            stdio: ['ignore', 'pipe', 'inherit'],
          })
          const [line] = (await once(createInterface({input: child.stdout}), 'line')) as [string]
          const {env, token} = JSON.parse(line) as {env: Record<string, string>; token: string}
          expect(env.MLFLOW_TRACKING_URI).toMatch(/^http:\/\/127\.0\.0\.1:/)
          expect((await playNotebook('', env)).found).toContain('notebook')
          child.kill('SIGINT')
          await once(child, 'close')
          const left = JSON.parse(await flexrack('tracking', 'tokens', '--json')) as {id: string}[]
          expect(left.map((one) => one.id)).not.toContain(token)
        },
      )

      test("opens MLflow's API alone: not the head's own, not its pages, not its gateway and webhooks", async () => {
        const {env} = JSON.parse(await flexrack('tracking', 'env', '--json')) as {env: Record<string, string>}
        const status = async (path: string, method = 'GET'): Promise<number> =>
          (
            await fetch(head.connection.uri + path, {
              method,
              headers: {authorization: `Bearer ${env.MLFLOW_TRACKING_TOKEN}`},
            })
          ).status
        for (const path of [
          '/flexrack/v1/status',
          '/flexrack/v1/tokens',
          '/',
          '/graphql',
          '/api/2.0/mlflow/webhooks',
          '/api/2.0/mlflow/gateway/endpoints',
          '/endpoints/digits/v2/health/ready',
        ]) {
          expect([path, await status(path)]).toEqual([path, 403])
        }
        expect(await status('/flexrack/v1/tokens', 'POST')).toBe(403)
        expect(await status('/api/2.0/mlflow/experiments/get-by-name?experiment_name=Default')).toBe(200)
      })

      test('asks for a time that a token may live', async () => {
        await expect(flexrack('tracking', 'env', '--for', '91d')).rejects.toThrow(/at most 90d/)
        expect(JSON.parse(await flexrack('tracking', 'env', '--for', '90m', '--dry-run', '--json'))).toMatchObject({
          steps: [{kind: 'token.make', input: {seconds: 5400}}],
        })
      })
    })
  })
}
