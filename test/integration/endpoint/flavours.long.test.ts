import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openEndpoints, type Endpoints, type PlainAnswer} from '../../../src/lib/endpoint/index.ts'
import {buildEnvironments} from '../../support/built-environments.ts'
import {answerOf, runAccess, startScript, startTestHead, type TestHead} from '../../support/head.ts'
import {callTriton, type Called} from '../../support/tensor-clients.ts'

/** Of who trains, and of who calls with tritonclient. Of PyTorch and Transformers the ones that MLflow 3.17 knows. */
const CLIENT = [
  'mlflow==3.17.2',
  'xgboost==3.2.0',
  'lightgbm==4.7.0',
  'torch==2.13.0',
  'transformers==4.57.6',
  'scikit-learn==1.9.1',
  'tritonclient[grpc,http]==2.73.0',
]
interface Logged {
  rows?: {columns: string[]; data: number[][]} | number[][]
  texts?: string[]
  said: unknown
}

let head: TestHead
let endpoints: Endpoints
let python: string

beforeAll(async () => {
  const [environment] = await buildEnvironments([CLIENT.join('\n') + '\n'])
  python = join(environment!, 'bin/python')
  head = await startTestHead()
  endpoints = await openEndpoints({rack: head.rack.rack, fleet: head.rack.fleet()}, head.rack.context())
}, 1_500_000)
afterAll(async () => {
  await endpoints?.close()
  await head?.stop()
})

const script = (name: string): string => fileURLToPath(new URL(`../../fixtures/inference/${name}.py`, import.meta.url))

/** Trains, logs, registers and deploys one. */
async function deploy(flavour: string): Promise<Logged> {
  const {env} = await runAccess(head, 'flavours', flavour)
  const logged = await answerOf<Logged>(
    startScript(python, script('mlflow_flavours'), [flavour, `any-${flavour}`], env),
  )
  const {endpoint, document} = await endpoints.deploy({name: flavour, model: `any-${flavour}`})
  expect(endpoint).toMatchObject({state: 'serving', protocol: 'mlflow'})
  expect(document.releases[0]).toMatchObject({runtime: 'mlflow'})
  return logged
}

async function invocations(name: string, value: unknown): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(value))
  return ((await endpoints.invoke({name, file: 'rows.json', bytes})) as PlainAnswer).answer
}

/** As tritonclient has it, over HTTP and gRPC. */
async function tensors(name: string, inputs: Record<string, unknown>, parameters = {}): Promise<Called> {
  const place = {endpoints, uri: head.connection.uri, caFile: head.caFile}
  const called = await callTriton(python, place, name, inputs, parameters)
  expect(called).toMatchObject({live: [true, true], ready: [true, true], same: true})
  expect(called.refused).toEqual(['400', expect.stringContaining('no input nobody; the model takes')])
  for (const other of [called.json, called.grpc, called.streamed]) expect(other).toEqual(called.binary)
  return called
}

const close = (values: unknown): unknown =>
  JSON.parse(JSON.stringify(values), (_key, value: unknown) =>
    typeof value === 'number' ? (expect.closeTo(value, 5) as unknown) : value,
  )
const columns = ({columns: names, data}: {columns: string[]; data: number[][]}): Record<string, number[]> =>
  Object.fromEntries(names.map((name, at) => [name, data.map((row) => row[at]!)]))

test.each(['sklearn', 'xgboost', 'lightgbm'])(
  'a model of %s predicts for a table what it predicted where it was trained: in JSON, and as a tensor a column',
  async (flavour) => {
    const {rows, said} = await deploy(flavour)
    const table = rows as {columns: string[]; data: number[][]}
    expect(await invocations(flavour, {dataframe_split: table})).toEqual({predictions: close(said)})
    const called = await tensors(flavour, columns(table))
    expect(called.inputs).toEqual(table.columns.map((name) => [name, 'FP64', [-1]]))
    expect(called.binary).toEqual({'output-0': close(said)})
  },
  900_000,
)

test("a class of the user's own gets its parameters either way, and its columns come back by name", async () => {
  const {rows, said} = await deploy('pyfunc')
  const table = rows as {columns: string[]; data: number[][]}
  expect(await invocations('pyfunc', {dataframe_split: table})).toEqual({predictions: close(said)})
  const {binary} = await tensors('pyfunc', columns(table), {by: 3})
  const thrice = Object.entries(columns(table)).map(([name, values]) => [name, values.map((value) => 3 * value)])
  expect(binary).toEqual(close(Object.fromEntries(thrice)))
}, 900_000)

test('a model of PyTorch predicts from tensors', async () => {
  const {rows, said} = await deploy('pytorch')
  expect(await invocations('pytorch', {inputs: rows})).toEqual({predictions: close(said)})
  const called = await tensors('pytorch', {'input-0': rows})
  expect(called.inputs).toEqual([['input-0', 'FP32', [-1, 4]]])
  expect(called.binary).toEqual({'output-0': close(said)})
}, 900_000)

test('a pipeline of Transformers classifies texts', async () => {
  const {texts, said} = await deploy('transformers')
  expect(await invocations('transformers', {inputs: texts})).toEqual({predictions: close(said)})
  const called = await tensors('transformers', {'input-0': texts})
  const found = said as {label: string; score: number}[]
  expect(called.inputs).toEqual([['input-0', 'BYTES', [-1]]])
  expect(called.binary).toEqual(close({label: found.map(({label}) => label), score: found.map(({score}) => score)}))
}, 900_000)
