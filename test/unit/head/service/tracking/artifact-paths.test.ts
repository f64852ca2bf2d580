import {describe, expect, test} from 'vitest'
import {plainArtifact, requireArtifacts} from '../../../../../src/lib/head/service/tracking/artifact-paths.ts'

const API = '/api/2.0/mlflow-artifacts'
const may = (path: string, query: Record<string, string> | [string, string][] = {}, workspace?: string): boolean => {
  try {
    requireArtifacts(`${API}${path}`, new URLSearchParams(query), workspace)
    return true
  } catch (error) {
    expect(error).toMatchObject({status: 403})
    return false
  }
}

describe('a path among artifacts', () => {
  test.each([
    ['1/a/artifacts/weights.bin', '1/a/artifacts/weights.bin'],
    ['1/gro%C3%9F.bin', '1/groß.bin'],
    ['1/100%25.txt', '1/100%.txt'],
    ['1/100%2525.txt', '1/100%.txt'],
    ['1/a..b/.hidden', '1/a..b/.hidden'],
    ['1/why%3F.txt', '1/why?.txt'],
  ])('%s is what MLflow reads', (written, read) => expect(plainArtifact(written)).toBe(read))

  test.each(
    [
      './a',
      '%2e/a',
      '%252e/a',
      '%25252e/a',
      'a/../b',
      'a/%252e%252e/b',
      'a//b',
      '/a',
      '%252fa',
      '.',
      '..',
      '.?',
      './?x',
    ].concat(['a\\b', 'a%5cb', 'a%255c..%255cb', 'file:a', 'FILE:a', 'a%0ab', 'a/%2e%2e?/b'], `%${'25'.repeat(9)}2e/a`),
  )('%s leads elsewhere', (written) => expect(plainArtifact(written)).toBeUndefined())
})

test('who is in the default workspace comes into no project by its folder, who is in one into no other', () => {
  expect(may('/artifacts/1/a/artifacts/x')).toBe(true)
  expect(may('/artifacts/workspaces/digits/1/x', {}, 'digits')).toBe(true)
  expect(may('/artifacts', {path: 'workspaces/digits/1'}, 'digits')).toBe(true)
  expect(may('/artifacts', {path: ''})).toBe(true)
  for (const workspace of [undefined, 'digits']) {
    expect(may('/artifacts/workspaces/secret/1/x', {}, workspace)).toBe(false)
    expect(may('/artifacts/%252e/workspaces/secret/1/x', {}, workspace)).toBe(false)
    expect(may('/artifacts/%2577orkspaces/secret/1/x', {}, workspace)).toBe(false)
    expect(may('/presigned/workspaces/secret/1/x', {}, workspace)).toBe(false)
    expect(may('/mpu/create/workspaces/secret/1/x', {}, workspace)).toBe(false)
    expect(may('/artifacts', {path: './workspaces/secret'}, workspace)).toBe(false)
    expect(may('/artifacts', {path: 'workspaces'}, workspace)).toBe(false)
    const twice: [string, string][] = [
      ['path', '1'],
      ['path', './workspaces'],
    ]
    expect(may('/artifacts', twice, workspace)).toBe(false)
  }
})
