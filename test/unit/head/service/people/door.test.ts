import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {FastifyRequest} from 'fastify'
import {afterEach, beforeEach, expect, test} from 'vitest'
import type {Parts} from '../../../../../src/lib/head/service/parts.ts'
import {answerWorkspaces, openDoor} from '../../../../../src/lib/head/service/people/door.ts'
import {People} from '../../../../../src/lib/head/service/people/people.ts'
import type {Caller} from '../../../../../src/lib/head/service/tokens/token-kinds.ts'

let folder: string
let parts: Parts
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-door-'))
  parts = {people: await People.open(folder), mlflow: {socket: join(folder, 'none')}} as unknown as Parts
  for (const name of ['digits', 'secret']) await parts.people.addProject(name)
})
afterEach(() => rm(folder, {recursive: true, force: true}))

const PATH = '/api/2.0/mlflow/runs/get'
const of = (caller: Caller, headers = {}): FastifyRequest => ({caller, headers, method: 'GET'}) as FastifyRequest
const bound: Caller[] = [
  {kind: 'personal', id: 'p', project: 'digits'},
  {kind: 'run', id: 'r', runId: 'a', experimentId: '1', project: 'digits'},
]

test('a token for a project that was removed does not come to the runs of all others', async () => {
  await parts.people.removeProject('digits')
  for (const caller of bound)
    await expect(openDoor(of(caller), PATH, parts), caller.kind).rejects.toMatchObject({status: 404})
  expect(await openDoor(of({kind: 'personal', id: 'p'}), PATH, parts), 'for all of them').toEqual({})
})

test('a run of a user who was taken out of the project is let in no more, and one of a viewer only reads', async () => {
  const run: Caller = {kind: 'run', id: 'r', runId: 'a', experimentId: '1', project: 'digits', user: 'ann'}
  const {people} = parts
  await people.addUser('ann', {admin: false, keys: [], source: 'admin'})
  const open = (method: string, path: string): Promise<unknown> =>
    openDoor({...of(run), method} as FastifyRequest, path, parts).catch(
      (error: Error & {status?: number}) => error.status ?? error.message,
    )
  const [write, search] = ['/api/2.0/mlflow/runs/log-batch', '/api/2.0/mlflow/runs/search']
  const tried = async (): Promise<unknown[]> => [
    await open('GET', PATH),
    await open('POST', search),
    await open('POST', write),
  ]
  // let in: there is no MLflow here to make the workspace at
  const isIn = expect.stringMatching('ENOENT')
  expect(await tried()).toEqual([403, 403, 403])
  await people.grant('digits', 'user:ann', 'viewer')
  expect(await tried()).toEqual([isIn, isIn, 403])
  await people.grant('digits', 'user:ann', 'member')
  expect(await tried()).toEqual([isIn, isIn, isIn])
  await people.removeUser('ann')
  expect(await tried()).toEqual([403, 403, 403])
})

test('projects are listed to whom they are open, and a name that does not decode is the name of none', () => {
  const list = (caller: Caller, path = ''): unknown =>
    answerWorkspaces(of(caller), `/api/3.0/mlflow/workspaces${path}`, parts)
  for (const caller of bound) expect(list(caller), caller.kind).toEqual({workspaces: [{name: 'digits'}]})
  expect(() => list(bound[0]!, '/secret')).toThrow('there is no project secret')
  expect(() => list(bound[0]!, '/%ff')).toThrow('there is no project %ff')
  const plain: Caller = {kind: 'run', id: 'r', runId: 'a', experimentId: '1'}
  expect(list(plain), 'a run of no project').toEqual({workspaces: [{name: 'default'}]})
  expect(() => list(plain, '/secret')).toThrow('there is no project secret')
  const change = {...of({kind: 'personal', id: 'p'}), method: 'DELETE'} as FastifyRequest
  for (const path of ['/secret', '%2Fsecret', ';x/secret'])
    expect(() => answerWorkspaces(change, `/api/3.0/mlflow/workspaces${path}`, parts), path).toThrow('flexrack project')
})
