import {expect, test} from 'vitest'
import type {Attested} from '../../../src/lib/attest/index.ts'
import {requireSignedFiles} from '../../../src/lib/endpoint/signed.ts'
import type {ModelVersion} from '../../../src/lib/tracking/index.ts'

const version = {name: 'digits', version: '1'} as ModelVersion
const check = (path: string, signed: Record<string, string>, fetched: Record<string, string>): void => {
  const files = Object.entries(fetched).map(([name, sha256]) => ({path: name, sha256, bytes: 1}))
  const said: Attested = {
    model: 'digits/1',
    path,
    files: new Map(Object.entries(signed)),
    record: 'r',
    keys: [],
    signer: 'ada',
  }
  requireSignedFiles('digits', version, said, files)
}

test('each file that is fetched is the one that was signed by its name', () => {
  const one = {'out/model.onnx': 'a', 'out/model.onnx.data': 'b', 'out/old.onnx.data': 'c'}
  check('out/model.onnx', one, {'model.onnx': 'a', 'model.onnx.data': 'b'})
  check('model.onnx', {'model.onnx': 'a'}, {'model.onnx': 'a'})
  expect(() => check('out/model.onnx', one, {'model.onnx': 'a', 'model.onnx.data': 'c'})).toThrow(/model.onnx.data/)
  expect(() => check('out/model.onnx', one, {'model.onnx': 'c'})).toThrow(/not a file that ada has signed/)
  const folder = {'m/config.json': 'a', 'm/sub/weights': 'b', 'other.txt': 'c'}
  check('m', folder, {'config.json': 'a', 'sub/weights': 'b'})
  expect(() => check('m', folder, {'config.json': 'b', 'sub/weights': 'a'})).toThrow(/config.json/)
  expect(() => check('m', folder, {'config.json': 'a', 'other.txt': 'c'})).toThrow(/other.txt/)
})
