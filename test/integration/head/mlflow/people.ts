import {execFileSync} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest'
import {openRuns} from '../../../../src/lib/runs/index.ts'
import {openTracking, type MadeToken} from '../../../../src/lib/head/index.ts'
import {Tracked} from '../../../../src/lib/lineage/tracked.ts'
import {logIn, logOut} from '../../../../src/lib/people/index.ts'
import {answerOf, runAccess, startScript, type TestHead} from '../../../support/head.ts'

/** Of a head that several files use (mlflow.test.ts): the last one, as MLflow is started again with workspaces. */
export function peopleTests(given: () => TestHead): void {
  describe('people', () => {
    let head: TestHead
    let folder: string
    const tokens: Record<string, string> = {}
    const change = (method: 'PUT' | 'POST', path: string, body: object): Promise<unknown> =>
      head.connection.request(method, `/flexrack/v1/people/${path}`, body)
    /** As a user of this machine with a state of their own. */
    const context = (): ReturnType<TestHead['rack']['context']> => {
      const base = head.rack.context()
      return {...base, env: {...base.env, FLEXRACK_HOME: join(folder, 'home')}}
    }

    beforeAll(async () => {
      head = given()
      folder = await mkdtemp(join(tmpdir(), 'flexrack-people-'))
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
      const keys = [await readFile(join(folder, 'key.pub'), 'utf8')]
      for (const name of ['vision', 'secret']) await change('PUT', `projects/${name}`, {})
      for (const [name, role] of Object.entries({alice: 'member', bob: 'viewer', cleo: 'member', mia: 'maintainer'})) {
        await change('PUT', `users/${name}`, name === 'alice' ? {keys} : {})
        await change('PUT', 'projects/vision/roles', {to: `user:${name}`, role})
        tokens[name] = ((await change('POST', 'tokens', {user: name})) as MadeToken).token
      }
      await change('PUT', 'projects/secret/roles', {to: 'user:mia', role: 'maintainer'})
      tokens.scoped = ((await change('POST', 'tokens', {user: 'mia', project: 'vision'})) as MadeToken).token
      const isReady = async (): Promise<void> => {
        const {mlflow} = await head.connection.request<{mlflow: {state: string}}>('GET', '/flexrack/v1/status')
        expect(mlflow.state).toBe('ready')
      }
      await vi.waitFor(isReady, {timeout: 120_000, interval: 500})
    }, 180_000)
    afterAll(async () => {
      if (folder) await rm(folder, {recursive: true, force: true})
    })

    test("MLflow's own client sees the projects of its token, and gets PERMISSION_DENIED beyond its role", async () => {
      const secret = await openTracking(
        {rack: head.rack.rack, fleet: head.rack.fleet(), manifest: {name: 'secret', tracking: {}}},
        head.rack.context(),
      )
      const place = (await secret.mlflow.ensureExperiment('secret')).id
      const other = await secret.mlflow.createRun({experimentId: place, name: 'hidden', tags: {}})
      await secret.close()
      const env = {
        MLFLOW_TRACKING_URI: head.connection.nodeUri,
        MLFLOW_TRACKING_SERVER_CERT_PATH: head.caFile,
        OTHER_RUN: other.id,
        OTHER_EXPERIMENT: place,
        ...Object.fromEntries(Object.entries(tokens).map(([name, token]) => [`TOKEN_${name.toUpperCase()}`, token])),
      }
      const script = fileURLToPath(new URL('../../../fixtures/tracking/people.py', import.meta.url))
      const denied = 'PERMISSION_DENIED'
      expect(await answerOf(startScript(head.python, script, [], env))).toEqual({
        owner: 'alice',
        forged_owner: denied,
        member_deletes_model: denied,
        workspaces: ['vision'],
        viewer_reads: {loss: 0.5},
        viewer_lists: true,
        viewer_file: 'hello',
        viewer_logs: denied,
        viewer_starts: denied,
        viewer_registers: denied,
        viewer_uploads: denied,
        member_of_others: denied,
        member_deletes_others: denied,
        other_run: 'RESOURCE_DOES_NOT_EXIST',
        other_search: [],
        other_file: expect.not.stringMatching('done'),
        forged_get: denied,
        forged_search: denied,
        forged_models: denied,
        default_search: denied,
        scoped_elsewhere: denied,
        maintainer_of_others: 'done',
        maintainer_deletes: 'done',
      })
    }, 120_000)

    test("no way of writing a path leads into another project, nor to what is the rack's", async () => {
      const ask = async (token: string, path: string, method = 'GET'): Promise<{status: number; text: string}> => {
        const headers = {authorization: `Bearer ${token}`, 'x-mlflow-workspace': 'vision'}
        const answer = await fetch(`${head.connection.uri}${path}`, {method, headers})
        return {status: answer.status, text: await answer.text()}
      }
      for (const who of ['bob', 'cleo', 'scoped']) {
        expect((await ask(tokens[who]!, '/api/3.0/mlflow/workspaces%2Fsecret')).text).not.toMatch('secret')
        for (const method of ['PATCH', 'DELETE'])
          expect(await ask(tokens[who]!, '/api/3.0/mlflow/workspaces%2Fsecret', method)).toMatchObject({status: 403})
        const gateway = await ask(tokens[who]!, '/api/3.0/mlflow/gateway%2Fsecrets%2Flist')
        expect(gateway).toMatchObject({status: 403})
      }
      const plain = await runAccess(head, 'plain')
      const files = '/api/2.0/mlflow-artifacts/artifacts'
      const root = await ask(plain.token, `${files}?path=./workspaces`)
      const nested = await ask(plain.token, `${files}/%252e/workspaces/secret/1/note.txt`)
      expect([root.status, nested.status], 'a run of no project').toEqual([403, 403])
      expect((await ask(plain.token, '/api/3.0/mlflow/workspaces')).text).toBe('{"workspaces":[{"name":"default"}]}')
    })

    test('who logs in with their SSH key is that user for every command, tracks runs as such, and is nobody after logout', async () => {
      const {rack} = head.rack
      const fleet = head.rack.fleet()
      const wish = {method: 'ssh', user: 'alice', key: join(folder, 'key'), seconds: 600, note: 'here'} as const
      expect(await logIn(rack, fleet, wish, context())).toMatchObject({user: 'alice', projects: {vision: 'member'}})
      const tracking = await openTracking({rack, fleet, manifest: {name: 'vision', tracking: {}}}, context())
      try {
        expect(tracking.head?.user).toBe('alice')
        const experimentId = (await tracking.mlflow.ensureExperiment('vision')).id
        const run = await tracking.mlflow.createRun({experimentId, name: 'hers', tags: {}})
        expect((await tracking.mlflow.getRun(run.id)).tags['flexrack.user']).toBe('alice')
        const access = await tracking.openRun(run.id, experimentId, 60)
        expect(access.token).toBeDefined()
        await expect(tracking.head!.request('PUT', '/flexrack/v1/people/users/x', {})).rejects.toThrow(
          /takes an admin of the rack/,
        )
        const {token} = await tracking.userAccess()
        expect(token).not.toBe(tracking.head!.token.reveal())
      } finally {
        await tracking.close()
      }
      expect(await logOut(rack, fleet, context())).toEqual({user: 'alice', revoked: true})
      const {tokens: left} = await head.connection.request<{tokens: {note: string}[]}>(
        'GET',
        '/flexrack/v1/people/tokens?user=alice',
      )
      expect(left.map(({note}) => note)).not.toContain('here')
    }, 120_000)

    test('what was made before its project was kept apart is found from there, by whom the default workspace is open to', async () => {
      const {rack} = head.rack
      const fleet = head.rack.fleet()
      const place = {rack, fleet, manifest: {name: 'vision', tracking: {}}}
      const experimentId = (await head.mlflow.ensureExperiment('vision')).id
      const old = await head.mlflow.createRun({experimentId, name: 'old', tags: {'flexrack.run': 'vision-00old'}})
      const find = async (from: ReturnType<typeof context>): Promise<string | undefined> => {
        const tracking = await openTracking(place, from)
        try {
          return (await new Tracked(tracking.mlflow, tracking.elsewhere).run('vision-00old'))?.id
        } finally {
          await tracking.close()
        }
      }
      expect(await find(head.rack.context())).toBe(old.id)
      const own = await openTracking(place, head.rack.context())
      const inside = (await own.mlflow.ensureExperiment('vision')).id
      await own.mlflow.createRun({
        experimentId: inside,
        name: 'new',
        user: 'ann',
        tags: {'flexrack.run': 'vision-00new'},
      })
      await own.close()
      const runs = openRuns({rack, fleet}, head.rack.context())
      const told = (await runs.list({all: true, limit: 100})).runs.map((one) => one.run)
      expect(told, 'of all places, typed outside of a project').toEqual(
        expect.arrayContaining(['vision-00old', 'vision-00new']),
      )
      expect(await runs.show('vision-00new')).toMatchObject({run: 'vision-00new', user: 'ann', away: null})
      await runs.close()
      const wish = {method: 'ssh', user: 'alice', key: join(folder, 'key'), seconds: 600, note: 'looks'} as const
      await logIn(rack, fleet, wish, context())
      expect(await find(context())).toBeUndefined()
      await logOut(rack, fleet, context())
    }, 120_000)
  })
}
