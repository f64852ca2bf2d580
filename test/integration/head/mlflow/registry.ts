import {fileURLToPath} from 'node:url'
import {beforeAll, describe, expect, test} from 'vitest'
import {answerOf, runAccess, startScript, type TestHead} from '../../../support/head.ts'

/** Of a head that several files use (mlflow.test.ts). */
export function registryTests(given: () => TestHead): void {
  describe('the registry', () => {
    let head: TestHead
    /** A run of either project, and what a rank of it is given. */
    let mine: Access
    let other: Access

    interface Access {
      experiment: string
      run: string
      /** Where a file of the run is. */
      source: string
      env: Record<string, string>
    }

    const SCRIPT = fileURLToPath(new URL('../../../fixtures/tracking/registry.py', import.meta.url))
    const CLOSED = {
      owner: 'PERMISSION_DENIED',
      disown: 'PERMISSION_DENIED',
      rename: 'PERMISSION_DENIED',
      delete_version: 'PERMISSION_DENIED',
      delete: 'PERMISSION_DENIED',
      squat: 'PERMISSION_DENIED',
    }
    const OPEN = [
      'alias',
      'unalias',
      'tag',
      'untag',
      'describe',
      'version',
      'version_tag',
      'version_untag',
      'version_describe',
    ]
    const all = (word: string): Record<string, string> => Object.fromEntries(OPEN.map((name) => [name, word]))

    beforeAll(async () => {
      head = given()
      ;[mine, other] = [await makeAccess('mine'), await makeAccess('other')]
    })

    async function makeAccess(project: string): Promise<Access> {
      const {id, experiment, artifactUri, env} = await runAccess(head, project)
      return {experiment, run: id, source: `${artifactUri}/model.onnx`, env}
    }

    const tries = (access: Access, name: string, version: string): Promise<Record<string, string>> =>
      answerOf(startScript(head.python, SCRIPT, [name, version, access.source], access.env))

    /** A call with a run's token, as it goes over the wire. */
    async function call(access: Access, method: string, path: string, body: unknown): Promise<number> {
      const headers = {authorization: `Bearer ${access.env.MLFLOW_TRACKING_TOKEN}`, 'content-type': 'application/json'}
      const answer = await fetch(`${head.connection.uri}/api/2.0/mlflow/${path}`, {
        method,
        headers,
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      await answer.arrayBuffer()
      return answer.status
    }

    /** A model with one version of a run, and an alias, as `flexrack model register` makes them. */
    async function register(name: string, {run, source}: Access): Promise<void> {
      await head.mlflow.ensureModel(name)
      await head.mlflow.createVersion({name, source, runId: run})
      await head.mlflow.setAlias(name, 'production', '1')
    }

    describe("a run's token", () => {
      test("moves no alias of another project's model, and changes nothing else of it", async () => {
        await register('theirs', other)
        expect(await tries(mine, 'theirs', '1')).toEqual({...all('PERMISSION_DENIED'), ...CLOSED})
        expect(await head.mlflow.getModel('theirs')).toMatchObject({aliases: {production: '1'}})
        expect(await head.mlflow.listVersions('theirs')).toHaveLength(1)
      })

      test('does with a model of its own project what a training does, however it came about', async () => {
        await register('registered', mine)
        expect(await tries(mine, 'registered', '1')).toEqual({...all('ACCEPTED'), ...CLOSED})
        expect(await call(mine, 'POST', 'registered-models/create', {name: 'created'})).toBe(200)
        expect(
          await call(mine, 'POST', 'model-versions/create', {name: 'created', source: mine.source, run_id: mine.run}),
        ).toBe(200)
        expect(await tries(mine, 'created', '1')).toEqual({...all('ACCEPTED'), ...CLOSED})
        expect(await tries(other, 'created', '1')).toEqual({...all('PERMISSION_DENIED'), ...CLOSED})
      })

      test('owns a name that it was the first to write to, also an empty one', async () => {
        await head.mlflow.ensureModel('empty')
        const version = (access: Access): Promise<number> =>
          call(access, 'POST', 'model-versions/create', {name: 'empty', source: access.source, run_id: access.run})
        const statuses = await Promise.all([version(mine), version(other), version(mine), version(other)])
        expect(new Set([`${statuses[0]} ${statuses[1]}`, `${statuses[2]} ${statuses[3]}`])).toEqual(
          new Set([statuses[0] === 200 ? '200 403' : '403 200']),
        )
        expect(await head.mlflow.listVersions('empty')).toHaveLength(2)
        // Taken names stay whose they are: the registry's own answer, which the client goes on after.
        expect(await call(other, 'POST', 'registered-models/create', {name: 'created'})).toBe(400)
      })

      test('cannot hold the head up with a call that takes long to read', async () => {
        // Refused by its size before it was read: who still sends may not see the answer.
        expect(
          await call(
            mine,
            'POST',
            'runs/log-batch',
            `{"run_id":"${mine.run}","a":[${'{},'.repeat(2_000_000)}{}]}`,
          ).catch(() => 413),
        ).toBe(413)
      })

      test('is not led astray by other ways to write a name', async () => {
        await register('victim', other)
        const alias = {alias: 'production', version: '1'}
        for (const body of [
          {...alias, name: ['victim']},
          {...alias, Name: 'victim'},
          {...alias, name: 'empty', registeredModelName: 'victim'},
          {...alias},
          {...alias, name: ''},
          {...alias, name: {toString: 'victim'}},
          JSON.stringify(JSON.stringify({...alias, name: 'victim'})),
          '[]',
          '',
          '{"name":"created","name":"victim","alias":"a","version":"1"}',
        ])
          expect([body, await call(mine, 'POST', 'registered-models/alias', body)]).toEqual([
            body,
            expect.toSatisfy((status: number) => status === 400 || status === 403),
          ])
        expect(await call(mine, 'POST', 'registered-models/alias?name=created', {...alias, name: 'victim'})).toBe(403)
        expect(await call(mine, 'POST', 'registered-models/alias', {...alias, name: 'nobody'})).toBe(404)
        expect(await head.mlflow.getModel('victim')).toMatchObject({aliases: {production: '1'}})
      })
    })

    test("a model whose versions are of no run is nobody's, until an administrator says whose", async () => {
      await head.mlflow.ensureModel('curated')
      await head.mlflow.createVersion({name: 'curated', source: 's3://elsewhere/x'})
      const alias = (): Promise<number> =>
        call(mine, 'POST', 'registered-models/alias', {name: 'curated', alias: 'production', version: '1'})
      expect(await alias()).toBe(403)
      await head.connection.request('POST', '/api/2.0/mlflow/registered-models/set-tag', {
        name: 'curated',
        key: 'flexrack.experiment',
        value: mine.experiment,
      })
      expect(await alias()).toBe(200)
    })

    describe("what is another project's", () => {
      const API3 = '/api/3.0/mlflow'
      const as = async (
        access: Access | undefined,
        method: string,
        path: string,
        body?: unknown,
      ): Promise<{status: number; value: unknown}> => {
        const headers = {
          authorization: `Bearer ${access?.env.MLFLOW_TRACKING_TOKEN ?? head.connection.token.reveal()}`,
          'content-type': 'application/json',
        }
        const answer = await fetch(`${head.connection.uri}${path}`, {
          method,
          headers,
          ...(body !== undefined && {body: JSON.stringify(body)}),
        })
        const text = await answer.text()
        return {status: answer.status, value: text.startsWith('{') ? JSON.parse(text) : text}
      }
      const trace = (id: string, {experiment}: Access, more: object = {}): object => ({
        trace: {
          trace_info: {
            trace_id: id,
            trace_location: {type: 'MLFLOW_EXPERIMENT', mlflow_experiment: {experiment_id: experiment}},
            request_time: new Date().toISOString(),
            state: 'OK',
            ...more,
          },
        },
      })
      const experimentOf = async (id: string): Promise<unknown> =>
        (
          (await as(other, 'GET', `${API3}/traces/${id}`)).value as {
            trace?: {trace_info?: {trace_location?: {mlflow_experiment?: {experiment_id?: string}}}}
          }
        ).trace?.trace_info?.trace_location?.mlflow_experiment?.experiment_id

      test('a trace is not taken over by telling of it again, and its assessments stay with it', async () => {
        const [id, own] = [`tr-${'1'.repeat(32)}`, `tr-${'2'.repeat(32)}`]
        const judged = {
          assessments: [
            {
              assessment_id: `a-${'3'.repeat(32)}`,
              assessment_name: 'good',
              trace_id: id,
              source: {source_type: 'HUMAN', source_id: 'me'},
              feedback: {value: true},
              create_time: new Date().toISOString(),
              last_update_time: new Date().toISOString(),
              valid: true,
            },
          ],
        }
        expect((await as(undefined, 'POST', `${API3}/traces`, trace(id, other, judged))).status).toBe(200)
        expect((await as(mine, 'POST', `${API3}/traces`, trace(own, mine))).status).toBe(200)
        expect((await as(mine, 'POST', `${API3}/traces`, trace(id, mine))).status).toBe(403)
        expect(await experimentOf(id)).toBe(other.experiment)
        expect((await as(mine, 'POST', `${API3}/traces`, trace(own, mine, judged))).status).toBe(403)
        expect((await as(other, 'GET', `${API3}/traces/${id}`)).value).toMatchObject({
          trace: {trace_info: {assessments: [{assessment_name: 'good'}]}},
        })
        expect((await as(mine, 'POST', `${API3}/traces`, trace(own, mine))).status).toBe(200) // its own it may
      })

      test.each(['mlflow.trace.archiveLocation', 'mlflow.trace.spansLocation', 'mlflow.artifactLocation'])(
        'a trace does not say itself where the server finds it: %s',
        async (tag) => {
          const tags = {
            'mlflow.trace.spansLocation': 'ARCHIVE_REPO',
            'mlflow.trace.archiveLocation': 'file:///etc',
            [tag]: tag === 'mlflow.trace.spansLocation' ? 'ARCHIVE_REPO' : 'file:///etc',
          }
          expect(
            (await as(mine, 'POST', `${API3}/traces`, trace(`tr-${'4'.repeat(32)}`, mine, {tags: {[tag]: tags[tag]}})))
              .status,
          ).toBe(403)
        },
      )

      test('a logged model is made in the own experiment, and the body of a call cannot name another than its path', async () => {
        const made = async (access: Access, experiment: string): Promise<{model_id: string; experiment_id: string}> => {
          const {status, value} = await as(access, 'POST', '/api/2.0/mlflow/logged-models', {
            experiment_id: experiment,
            name: 'net',
            source_run_id: access.run,
          })
          expect(status).toBe(200)
          return (value as {model: {info: {model_id: string; experiment_id: string}}}).model.info
        }
        const [own, theirs] = [await made(mine, other.experiment), await made(other, other.experiment)]
        expect(own.experiment_id).toBe(mine.experiment)
        expect(
          (
            await as(mine, 'PATCH', `/api/2.0/mlflow/logged-models/${own.model_id}`, {
              model_id: theirs.model_id,
              status: 'LOGGED_MODEL_UPLOAD_FAILED',
            })
          ).status,
        ).toBe(403)
        expect(
          (
            await as(mine, 'PATCH', `/api/2.0/mlflow/logged-models/${own.model_id}`, {
              model_id: own.model_id,
              status: 'LOGGED_MODEL_READY',
            })
          ).status,
        ).toBe(200)
        expect((await as(other, 'GET', `/api/2.0/mlflow/logged-models/${theirs.model_id}`)).value).toMatchObject({
          model: {info: {status: 'LOGGED_MODEL_PENDING'}},
        })
      })

      test("a run hangs itself below no run of it, and takes no run's name at flexrack", async () => {
        const parent = {key: 'mlflow.parentRunId', value: other.run}
        expect(await call(mine, 'POST', 'runs/set-tag', {run_id: mine.run, ...parent})).toBe(403)
        expect(
          await call(mine, 'POST', 'runs/log-batch', {run_id: mine.run, tags: [{key: 'a', value: 'b'}, parent]}),
        ).toBe(403)
        const {value} = await as(mine, 'POST', '/api/2.0/mlflow/runs/create', {
          tags: [
            {key: 'flexrack.run', value: 'other-1'},
            {key: 'a', value: 'b'},
          ],
        })
        const nested = (value as {run: {info: {run_id: string}; data: {tags: {key: string; value: string}[]}}}).run
        expect(nested.data.tags.map(({key}) => key)).not.toContain('flexrack.run')
        for (const key of ['flexrack.run', 'flexrack.project', 'flexrack.nodes']) {
          expect(await call(mine, 'POST', 'runs/set-tag', {run_id: nested.info.run_id, key, value: 'other-1'})).toBe(
            403,
          )
          expect(await call(mine, 'POST', 'runs/delete-tag', {run_id: mine.run, key})).toBe(403)
        }
        expect(
          await call(mine, 'POST', 'runs/set-tag', {
            run_id: nested.info.run_id,
            key: 'mlflow.parentRunId',
            value: mine.run,
          }),
        ).toBe(200)
        // what its supervisor tells of it
        expect(await call(mine, 'POST', 'runs/set-tag', {run_id: mine.run, key: 'flexrack.cause', value: 'x'})).toBe(
          200,
        )
      })
    })
  })
}
