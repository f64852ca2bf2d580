import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import type {CliError} from '../../../src/lib/base/index.ts'
import {requireOnGpus} from '../../../src/lib/endpoint/runtime-of.ts'
import {loadRecipe, renderRecipe} from '../../../src/lib/recipe/index.ts'

const values = {
  python: '/env/bin/python',
  environment: '/env',
  folder: '/r1/replica-0',
  host: '127.0.0.1',
  ports: {http: 18001},
  model: 'digits',
  version: '3',
  modelFile: '/r1/model/model.onnx',
  modelFolder: '/model',
}
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-recipe-'))
})
afterEach(() => rm(home, {recursive: true, force: true}))

async function own(name: string, text: string): Promise<void> {
  const folder = join(home, 'config', 'runtimes', name)
  await mkdir(folder, {recursive: true})
  await writeFile(join(folder, 'recipe.yaml'), text)
  await writeFile(join(folder, 'requirements.txt'), 'server==1\n')
}

const load = (name: string): ReturnType<typeof loadRecipe> => loadRecipe(name, {FLEXRACK_HOME: home})

test('the onnx recipe gives MLServer its one port as a number and binds what it is told', async () => {
  const rendered = renderRecipe(await load('onnx'), values)
  expect(JSON.parse(rendered.files['settings.json'] ?? '')).toMatchObject({
    host: '127.0.0.1',
    http_port: 18001,
    metrics_endpoint: null,
  })
  expect(JSON.parse(rendered.files['model-settings.json'] ?? '')).toMatchObject({
    name: 'digits',
    parameters: {uri: '/r1/model/model.onnx', version: '3'},
  })
  expect(rendered.argv.at(0)).toBe('/env/bin/python')
  expect(rendered.argv.at(-1)).toBe('/r1/replica-0')
  expect(rendered.readyPath).toBe('/v2/models/digits/ready')
  expect(rendered.files['flexrack_onnx.py']).toContain('class OnnxModel')
  expect(rendered.files['serve.py']).toContain('class ClosedServer')
})

test('runtimes that compute on CPUs alone are no place for GPUs, and those that may use them are', async () => {
  const refused = async (runtime: string): Promise<string | undefined> =>
    requireOnGpus('digits', runtime, {gpus: {count: 1} as never}, {FLEXRACK_HOME: home}).then(
      () => undefined,
      ({code, message, hint}: CliError) => `${code}: ${message}; ${hint}`,
    )
  expect(await refused('onnx')).toBe(
    'USAGE: the runtime onnx computes on CPUs alone: the GPUs of endpoint digits would lie idle; leave out its gpus; or runtime: onnx-cuda (docs/runtimes.md)',
  )
  expect([await refused('llamacpp'), await refused('vllm')]).toEqual([
    expect.stringMatching(/llamacpp computes on CPUs alone.*custom/),
    expect.stringContaining('vllm computes on CPUs alone'),
  ])
  for (const runtime of ['onnx-cuda', 'mlflow', 'python', 'triton', 'custom'])
    expect(await refused(runtime)).toBeUndefined()
  await expect(requireOnGpus('digits', 'onnx', {memory: 1}, {FLEXRACK_HOME: home})).resolves.toBeUndefined()
})

test("a recipe of the user's own is found by its name", async () => {
  await own(
    'mine',
    'title: Mine\nmodel: {suffix: .bin}\nrequirements: requirements.txt\nfiles: {run.sh: {text: "exec {python} --port {port}"}}\nstart: {argv: [sh, "{folder}/run.sh"]}\nready: {path: /v2/health/ready}\n',
  )
  const rendered = renderRecipe(await load('mine'), values)
  expect(rendered).toMatchObject({
    argv: ['sh', '/r1/replica-0/run.sh'],
    files: {'run.sh': 'exec /env/bin/python --port 18001'},
    readyPath: '/v2/health/ready',
  })
})

test('errors of a recipe come with their places, all at once', async () => {
  await own(
    'wrong',
    'title: Wrong\nmodel: {sufix: .bin}\nrequirements: requirements.txt\nstart: {argv: []}\nready: {path: health}\n',
  )
  const error = await load('wrong').catch((reason: CliError) => reason)
  expect(error).toMatchObject({code: 'RECIPE_INVALID'})
  const {problems} = (error as CliError).details as {problems: {line: number; message: string}[]}
  expect(problems.map((problem) => problem.line)).toEqual(expect.arrayContaining([2, 4, 5]))
})

test('a placeholder that stands for nothing is named', async () => {
  await own(
    'odd',
    'title: Odd\nmodel: {suffix: .bin}\nrequirements: requirements.txt\nstart: {argv: ["{pyton}"]}\nready: {path: /ready}\n',
  )
  const recipe = await load('odd')
  expect(() => renderRecipe(recipe, values)).toThrow(/uses \{pyton\}, which stands for nothing/)
})

test('an unknown runtime suggests the nearest', async () => {
  await expect(load('onxn')).rejects.toThrow(/did you mean onnx\?/)
  await expect(load('../onnx')).rejects.toThrow(/there is no runtime/)
})
