import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {Artifacts} from '../../../../../src/lib/head/service/holdings/artifacts.ts'
import {openTestServer} from '../../../../support/head-server.ts'
import {standIn, type StandIn} from '../../../../support/stand-in.ts'

const [ONE, TWO, GONE] = ['1', '2', '3'].map((digit) => digit.repeat(32)) as [string, string, string]

let folder: string
let mlflow: StandIn
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-artifacts-'))
  mlflow = await standIn((_method, path) => {
    if (path.includes('logged-models/m-1')) return {model: {info: {source_run_id: ONE}}}
    const tags = {
      [ONE]: [
        {key: 'mlflow.user', value: 'root'},
        {key: 'flexrack.user', value: 'ann'},
        {key: 'flexrack.project', value: 'digits'},
      ],
      [TWO]: [{key: 'mlflow.user', value: 'bob'}],
    }
    const id = new URL(path, 'http://mlflow').searchParams.get('run_id') ?? ''
    return {run: {data: {tags: tags[id] ?? []}}}
  })
})
afterEach(async () => {
  await mlflow.stop()
  await rm(folder, {recursive: true, force: true})
})

async function put(path: string, bytes: number): Promise<void> {
  await mkdir(dirname(join(folder, path)), {recursive: true})
  await writeFile(join(folder, path), Buffer.alloc(bytes))
}

test('artifacts of runs and models are measured, as whoever started them has them', async () => {
  await put(`1/${ONE}/artifacts/model/weights`, 1000)
  await put(`1/${ONE}/artifacts/log`, 10)
  await put('1/models/m-1/artifacts/weights', 500)
  await put(`workspaces/llama/2/${TWO}/artifacts/a`, 7)
  await put(`1/${GONE}/artifacts/of-nobody`, 9999)
  await put('1/no-run/file', 9999)
  await symlink('/usr', join(folder, `1/${ONE}/artifacts/link`))
  const artifacts = new Artifacts(
    folder,
    () => mlflow.socket,
    (user) => (user === 'ann' ? ['vision'] : []),
  )
  expect(Object.values(await artifacts.look())).toMatchObject([
    {user: 'ann', project: 'digits', teams: ['vision'], amounts: {disk: 1510}},
    {user: 'bob', project: 'llama', teams: [], amounts: {disk: 7}},
  ])
  const asked = mlflow.seen.length
  await put(`1/${ONE}/artifacts/more`, 90)
  await rm(join(folder, 'workspaces'), {recursive: true})
  expect(Object.values(await artifacts.look())).toMatchObject([{user: 'ann', amounts: {disk: 1600}}])
  expect(
    mlflow.seen.slice(asked).filter((one) => !one.includes(GONE)),
    'whose it is is asked once',
  ).toEqual([])
  const none = new Artifacts(
    join(folder, 'nowhere'),
    () => mlflow.socket,
    () => [],
  )
  expect(await none.look()).toEqual({})
})

test('what was measured counts for what comes, and in what is told', async () => {
  const server = await openTestServer()
  try {
    const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> =>
      (await (await server.call(method, `/flexrack/v1/${path}`, {...(body && {body})})).json()) as Record<
        string,
        unknown
      >
    await call('PUT', 'quotas/project:digits', {disk: {most: 4 * 2 ** 30}})
    const held = {user: 'ann', teams: [], project: 'digits', amounts: {disk: 3 * 2 ** 30}, since: 0}
    server.parts.holdings.measured({'artifacts ann digits': held})
    const data = {kind: 'data', name: 'n1/pets', project: 'digits', amount: 2 ** 31}
    expect(await call('POST', 'holdings/outlook', data)).toMatchObject({
      sums: [{text: 'GiB of disk of project digits: 3 (ann 3) + 2 > 4'}],
    })
    expect(await call('POST', 'holdings', data)).toMatchObject({error: {code: 'QUOTA'}})
    expect(await call('GET', 'quotas')).toMatchObject({quotas: [{limits: [{what: 'disk', have: 3 * 2 ** 30}]}]})
    server.parts.holdings.measured({})
    expect(await call('POST', 'holdings', data)).toEqual({over: []})
  } finally {
    await server.close()
  }
})
