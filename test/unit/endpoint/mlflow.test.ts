import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import type {EndpointDocument, Release} from '../../../src/lib/endpoint/document.ts'
import {switchTo} from '../../../src/lib/endpoint/document.ts'
import {readNeeds} from '../../../src/lib/endpoint/model-needs.ts'
import {plainRequest} from '../../../src/lib/endpoint/plain-request.ts'
import {transitionPlan} from '../../../src/lib/endpoint/plan.ts'
import {flavoursOf, runtimeOfFiles} from '../../../src/lib/endpoint/runtime-of.ts'
import type {ModelVersion} from '../../../src/lib/tracking/index.ts'

const version = {name: 'iris', version: '3'} as ModelVersion
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-needs-'))
})
afterEach(() => rm(folder, {recursive: true, force: true}))

test('flavours are the names below `flavors`, and nothing of what they hold or of what follows', () => {
  const text =
    'artifact_path: model\nflavors:\n  python_function:\n    env:\n      conda: conda.yaml\n    loader_module: mlflow.onnx\n  onnx:\n    data: model.onnx\nmlflow_version: 3.17.2\nsignature:\n  inputs: x\n'
  expect(flavoursOf(text)).toEqual(['python_function', 'onnx'])
  expect(flavoursOf('run_id: x\n')).toEqual([])
  expect(flavoursOf('flavors:\n  sklearn:\n    code: null')).toEqual(['sklearn'])
})

test.each([
  ['python', ['model.py', 'model-settings.json', 'config.pbtxt']],
  ['triton', ['config.pbtxt', 'requirements.txt']],
  ['llamacpp', ['tiny.gguf', 'README.md']],
  ['vllm', ['config.json', 'model-00001-of-00002.safetensors']],
  ['onnx', ['model.onnx', 'notes.txt']],
  ['onnx', []],
])('what fits the files is %s', (runtime, files) => expect(runtimeOfFiles(files)).toBe(runtime))

describe('what a model says it needs', () => {
  test('of a class of the user only a requirements.txt counts, and it may be missing', async () => {
    expect(await readNeeds(folder, version, 'requirements')).toEqual({requirements: ''})
    await writeFile(join(folder, 'requirements.txt'), 'numpy\n')
    expect(await readNeeds(folder, version, 'requirements')).toEqual({requirements: 'numpy\n'})
    await writeFile(join(folder, 'requirements.txt'), '#'.repeat(300_000))
    await expect(readNeeds(folder, version, 'requirements')).rejects.toMatchObject({code: 'NOT_FOUND'})
  })

  test('its requirements, its Python, and a small example', async () => {
    await writeFile(join(folder, 'requirements.txt'), 'scikit-learn==1.9\n')
    await writeFile(join(folder, 'python_env.yaml'), 'python: 3.11.7\nbuild_dependencies:\n- pip\n')
    await writeFile(join(folder, 'serving_input_example.json'), '{"inputs": [1]}')
    expect(await readNeeds(folder, version, 'mlflow')).toEqual({
      requirements: 'scikit-learn==1.9\n',
      python: '3.11',
      example: '{"inputs": [1]}',
    })
    await writeFile(join(folder, 'serving_input_example.json'), `{"inputs": "${'x'.repeat(20_000)}"}`)
    expect(await readNeeds(folder, version, 'mlflow')).not.toHaveProperty('example')
    await writeFile(join(folder, 'serving_input_example.json'), '{"inputs": ')
    expect(await readNeeds(folder, version, 'mlflow')).not.toHaveProperty('example')
  })

  test('without requirements it cannot be served, and the way out is said', async () => {
    await expect(readNeeds(folder, version, 'mlflow')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'model iris/3 names no environment: it has no requirements.txt beside its MLmodel',
    })
  })
})

describe('what is sent', () => {
  const sent = (
    protocol: 'openai' | 'mlflow',
    file: string,
    text: string | Buffer,
  ): {path: string; type: string; value: unknown} => {
    const {path, type, body} = plainRequest(protocol, {name: 'chat', file, bytes: Buffer.from(text)})
    return {path, type, value: type === 'application/json' ? JSON.parse(body.toString()) : body.toString()}
  }

  test.each([
    ['Hello\n', '/v1/chat/completions', {model: 'chat', messages: [{role: 'user', content: 'Hello'}]}],
    ['{"messages": []}', '/v1/chat/completions', {model: 'chat', messages: []}],
    ['{"model": "adapter", "prompt": "x"}', '/v1/completions', {model: 'adapter', prompt: 'x'}],
    ['{"input": "x"}', '/v1/embeddings', {model: 'chat', input: 'x'}],
  ])("to OpenAI's API: %s", (text, path, value) =>
    expect(sent('openai', '--data', text)).toEqual({path, type: 'application/json', value}),
  )

  test("to MLflow's server: lists, a request, a table", () => {
    expect(sent('mlflow', '--data', '[[1, 2]]').value).toEqual({inputs: [[1, 2]]})
    expect(sent('mlflow', 'rows.json', '{"dataframe_split": {}}').value).toEqual({dataframe_split: {}})
    expect(sent('mlflow', 'rows.csv', 'a,b\n1,2\n')).toEqual({
      path: '/invocations',
      type: 'text/csv',
      value: 'a,b\n1,2\n',
    })
  })

  test('what is none of these is refused', () => {
    expect(() => sent('mlflow', 'x.txt', 'hello')).toThrow('x.txt is neither JSON, nor CSV, nor an array')
    expect(() => sent('openai', 'x.json', '{"question": 1}')).toThrow('neither messages, nor a prompt, nor an input')
  })
})

describe('a release whose model names its environment', () => {
  const replicas = [{index: 0, node: 'n0', service: 'endpoint-iris-r1-0', url: 'http://127.0.0.1:1'}]
  const release: Release = {
    id: 'r1',
    model: {name: 'iris', version: '3', files: []},
    runtime: 'mlflow',
    protocol: 'mlflow',
    health: '/ping',
    state: 'starting',
    replicas,
    createdAt: '',
    by: 'me',
    kept: true,
  }

  test('is prepared once its files are here; every step that reads them waits for them', () => {
    const {steps} = transitionPlan({
      command: 'endpoint deploy',
      endpoint: 'iris',
      release,
      start: replicas,
      stop: [],
      headNode: 'n0',
      fetch: true,
      asksModel: true,
    })
    const reads = steps.filter((step) => JSON.stringify(step.input).includes('"needs":{"$output":"fetch"'))
    expect(reads.map((step) => step.id)).toEqual(['environment:n0', 'ready:endpoint-iris-r1-0'])
    for (const step of reads) expect(step.needs).toContain('fetch')
  })

  test('brings up more servers with what it was told then', () => {
    const needs = {requirements: 'scikit-learn==1.9\n'}
    const {steps} = transitionPlan({
      command: 'endpoint scale',
      endpoint: 'iris',
      release: {...release, model: {...release.model, needs}},
      start: replicas,
      stop: [],
      headNode: 'n0',
      fetch: false,
      asksModel: false,
    })
    expect(steps.find((step) => step.kind === 'endpoint.environment')?.input).toMatchObject({needs})
  })

  test('tells the gateway what its servers speak, and where they tell their health', () => {
    const document: EndpointDocument = {name: 'iris', createdAt: '', active: null, releases: [release]}
    expect(switchTo(document, release, new Date(0), false).active).toEqual({
      release: 'r1',
      targets: ['http://127.0.0.1:1'],
      protocol: 'mlflow',
      health: '/ping',
    })
  })
})
