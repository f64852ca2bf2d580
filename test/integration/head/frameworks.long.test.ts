import {readFile} from 'node:fs/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {ensureEnvironment} from '../../../src/lib/host/index.ts'
import {startTestHead, type TestHead} from '../../support/head.ts'
import {playProgram} from '../../support/programs.ts'

let head: TestHead
let python: string

beforeAll(async () => {
  head = await startTestHead()
  const requirements = await readFile(new URL('../../fixtures/tracking/frameworks.txt', import.meta.url), 'utf8')
  python = `${(await ensureEnvironment(head.host, {requirements}, head.rack.context())).path}/bin/python`
}, 1_800_000)
afterAll(() => head?.stop())

/**
 * What the run of each program has at its end. `nested`: how many runs are nested in it; `file`: an artifact of its
 * own.
 */
const ENDS: Record<
  string,
  {metrics: string[]; params?: number; model?: string | RegExp; file?: RegExp; nested?: number; name?: string}
> = {
  client: {metrics: ['loss'], params: 1, file: /^model\/model\.txt$/, name: 'by hand'},
  sklearn: {metrics: ['training_accuracy_score'], params: 10, model: 'model', nested: 1},
  evaluate: {metrics: ['accuracy_score'], model: 'model', file: /confusion_matrix/},
  xgboost: {metrics: ['train-logloss'], params: 5, model: 'model'},
  lightgbm: {metrics: ['train-binary_logloss'], params: 4, model: 'model'},
  catboost: {metrics: ['Logloss'], params: 4, model: 'model'},
  lightning: {metrics: ['train_loss', 'epoch'], file: /\.ckpt$/, name: 'its own name'},
  pytorch: {metrics: ['train_loss'], params: 5, model: 'model'},
  transformers: {metrics: ['loss', 'train_loss'], params: 100, model: /^checkpoint-4$/},
  keras: {metrics: ['loss', 'accuracy'], params: 10, model: 'model'},
  optuna: {metrics: ['distance'], params: 1, nested: 2, name: '0'},
  tune: {metrics: ['score'], params: 1, nested: 2, file: /^best\/model\.txt$/},
}

for (const [program, end] of Object.entries(ENDS)) {
  test(`${program}: its metrics and its model are at the run`, async () => {
    const {run, nested, models, files} = await playProgram(head, python, program)
    expect(run.status).toBe('FINISHED')
    expect(Object.keys(run.metrics)).toEqual(expect.arrayContaining(end.metrics))
    expect(Object.keys(run.params).length).toBeGreaterThanOrEqual(end.params ?? 0)
    if (end.name !== undefined) expect(run.name).toBe(end.name)
    if (end.model !== undefined) expect(models).toContainEqual(expect.stringMatching(end.model))
    if (end.file !== undefined) expect(files).toContainEqual(expect.stringMatching(end.file))
    expect(nested.map((one) => one.status)).toEqual(Array.from({length: end.nested ?? 0}, () => 'FINISHED'))
  })
}
