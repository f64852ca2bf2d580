import {afterAll, beforeAll, expect, test} from 'vitest'
import {openEndpoints, type Endpoints, type PlainAnswer} from '../../../src/lib/endpoint/index.ts'
import {answerOf, runAccess, startClient, startTestHead, type TestHead} from '../../support/head.ts'

interface Logged {
  rows: {columns: string[]; data: number[][]}
  csv: string
  sklearn: number[]
  doubled: Record<string, number>[]
}

let head: TestHead
let endpoints: Endpoints
let logged: Logged

beforeAll(async () => {
  head = await startTestHead()
  const fleet = head.rack.fleet()
  endpoints = await openEndpoints({rack: head.rack.rack, fleet}, head.rack.context())
  const {env} = await runAccess(head, 'flavours')
  logged = await answerOf<Logged>(startClient(head.python, ['flavours', 'iris'], env))
}, 900_000)
afterAll(async () => {
  await endpoints?.close()
  await head?.stop()
})

const ask = async (name: string, file: string, value: unknown): Promise<unknown> => {
  const answer = (await endpoints.invoke({
    name,
    file,
    bytes: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
  })) as PlainAnswer
  expect(answer.protocol).toBe('mlflow')
  return (answer.answer as {predictions: unknown}).predictions
}

test("a model of scikit-learn is served by MLflow's own server, in the environment that it was logged with", async () => {
  const {endpoint, document} = await endpoints.deploy({name: 'iris', model: 'iris-sklearn'})
  expect(endpoint).toMatchObject({
    state: 'serving',
    protocol: 'mlflow',
    callUrl: expect.stringMatching(/\/endpoints\/iris\/invocations$/) as string,
  })
  expect(document.releases[0]).toMatchObject({
    runtime: 'mlflow',
    protocol: 'mlflow',
    health: '/ping',
    model: {
      needs: {
        requirements: expect.stringContaining('scikit-learn==') as string,
        python: expect.stringMatching(/^3\.\d+$/) as string,
      },
    },
  })
  expect(await ask('iris', 'rows.json', {dataframe_split: logged.rows})).toEqual(logged.sklearn)
  expect(await ask('iris', 'rows.csv', logged.csv)).toEqual(logged.sklearn)
  expect((await endpoints.list())[0]).toMatchObject({name: 'iris', state: 'serving'})
  // As tensors, one a column, through the same gateway.
  const inputs = logged.rows.columns.map((name, at) => {
    const data = logged.rows.data.map((row) => row[at])
    return {name, datatype: 'FP64', shape: [data.length], data}
  })
  const tensors = await fetch(`${head.connection.uri}/endpoints/iris/v2/models/iris/infer`, {
    method: 'POST',
    headers: {authorization: `Bearer ${(await endpoints.token('iris')).reveal()}`},
    body: JSON.stringify({inputs}),
  })
  expect([tensors.status, await tensors.json()]).toMatchObject([200, {outputs: [{data: logged.sklearn}]}])
  await expect(ask('iris', 'rows.json', {dataframe_split: {columns: ['x'], data: [['y']]}})).rejects.toMatchObject({
    code: 'ENDPOINT_FAILED',
    details: {status: 400},
  })
}, 600_000)

test('more servers come up without the model being fetched again, and the plan says whose environment it is', async () => {
  const plan = await endpoints.planDeploy({name: 'iris', model: 'iris-sklearn', force: true})
  expect(plan.steps.find((step) => step.id.startsWith('environment:'))).toMatchObject({
    title: 'Python environment of the runtime mlflow and of the model',
    needs: ['fetch'],
  })
  await endpoints.scale('iris', 2)
  const {servers} = await endpoints.show('iris')
  expect(servers.map((one) => one.state)).toEqual(['running', 'running'])
  for (let index = 0; index < 4; index++) expect(await ask('iris', 'rows.csv', logged.csv)).toEqual(logged.sklearn)
}, 600_000)

test("a class of the user's own is served with its parameters", async () => {
  await endpoints.deploy({name: 'double', model: 'iris-pyfunc'})
  expect(await ask('double', 'rows.json', {dataframe_split: logged.rows, params: {by: 3}})).toEqual(logged.doubled)
}, 600_000)
