import {beforeAll, describe, expect, test} from 'vitest'
import {withoutHashes} from '../../../../src/lib/base/index.ts'
import {headRequirements} from '../../../../src/lib/head/requirements.ts'
import {ensureEnvironment} from '../../../../src/lib/host/index.ts'
import {answerOf, runAccess, startClient, type TestHead} from '../../../support/head.ts'

/** Of a head that several files use (mlflow.test.ts). */
export function onnxTests(given: () => TestHead): void {
  describe('an ONNX model', () => {
    let head: TestHead
    let python: string

    beforeAll(async () => {
      head = given()
      const requirements = `${withoutHashes(headRequirements({}))}onnx==1.23.2\nonnxruntime==1.31.1\n`
      const environment = await ensureEnvironment(head.host, {requirements}, head.rack.context())
      python = `${environment.path}/bin/python`
    })

    interface Answer {
      version: string
      status: string
      model: string
      predicted: number[][]
      expected: number[][]
      same: boolean
    }

    test('the official MLflow client logs an ONNX model with the token of a run, registers it, sets an alias, and loads and runs it by that', async () => {
      const run = await runAccess(head, 'onnx')

      const answer = await answerOf<Answer>(startClient(python, ['onnx_model', 'linear'], run.env))
      expect(answer).toMatchObject({version: '1', status: 'READY', same: true})
      expect(answer.predicted).toEqual([
        [1.5, 1.5],
        [8.5, 9.5],
      ])
      expect(answer.predicted).toEqual(answer.expected)

      // What flexrack itself then sees is the same version, of this run, with the graph in a file that a model server can
      // take.
      const version = await head.mlflow.getVersionByAlias('linear', 'production')
      expect(version).toMatchObject({version: '1', runId: run.id, modelId: answer.model})
      const files = await head.mlflow.walkStored(await head.mlflow.versionUri('linear', version.version))
      expect(files.map((file) => file.path)).toEqual(expect.arrayContaining(['MLmodel', 'model.onnx']))
    })
  })
}
