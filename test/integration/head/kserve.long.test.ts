import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {expect, test} from 'vitest'
import {buildEnvironments} from '../../support/built-environments.ts'
import {answerOf, startScript} from '../../support/head.ts'
import {startHeadProcess} from '../../support/head-process.ts'
import {startModelServer} from '../../support/model-server.ts'
import {sameModel} from '../../support/onnx.ts'

test("KServe's clients work unmodified, REST and gRPC, with tensors in binary and in numbers", async () => {
  const [environment] = await buildEnvironments(['kserve==0.21.0\n'], '>=3.11,<3.13')
  const head = await startHeadProcess()
  const model = await startModelServer('same', sameModel())
  try {
    await head.call('PUT', '/flexrack/v1/endpoints/same', {revision: 0, document: {active: {targets: [model.url]}}})
    const {port} = JSON.parse(readFileSync(join(head.folder, 'listener.json'), 'utf8')) as {port: number}
    const script = fileURLToPath(new URL('../../fixtures/inference/kserve_both.py', import.meta.url))
    const env = {
      URL: `https://127.0.0.1:${port}/endpoints/same`,
      GRPC: `127.0.0.1:${port}`,
      CERTIFICATES: join(head.folder, 'tls/ca.pem'),
      TOKEN: head.token,
    }
    expect(await answerOf(startScript(join(environment!, 'bin/python'), script, [], env))).toEqual({
      rest: [true, true, true],
      grpc: [true, true, true],
      right: 4,
    })
  } finally {
    await model.stop()
    await head.stop()
  }
})
