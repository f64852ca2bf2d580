import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import {PULL} from '../../../src/lib/workspace/index.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flexrack-pull-'))
  mkdirSync(join(home, 'project'))
})
afterEach(() => rmSync(home, {recursive: true}))

/** A node that has one new file. */
const pull = (path: string, to: string | null = null): Promise<unknown> => {
  const host = {
    node: 'n',
    call: async (_verb: string, _input: unknown, {onEvent}: {onEvent(event: object): void}) => {
      onEvent({event: 'content', path, data: Buffer.from('x').toString('base64')})
      return {files: {[path]: createHash('sha256').update('x').digest('hex').slice(0, 32)}}
    },
  } as unknown as Host
  const input = {
    node: 'n',
    project: 'p',
    folder: join(home, 'project'),
    overwrite: false,
    to,
    skipped: [],
    files: [
      {
        path,
        there: 'new' as const,
        here: 'absent' as const,
        what: 'bring' as const,
        size: 1,
        executable: false,
        digest: null,
      },
    ],
  }
  return PULL.handlers['workspace.pull'](input, undefined as never, {host: () => host, context: makeContext({env: {}})})
}

test('what a node has new comes into folders that are made for it, and never through a link that leads out', async () => {
  await pull('deep/er/new.txt')
  expect(readFileSync(join(home, 'project/deep/er/new.txt'), 'utf8')).toBe('x')
  mkdirSync(join(home, 'outside'))
  symlinkSync('../outside', join(home, 'project/out'))
  symlinkSync('../nothing', join(home, 'project/dangling'))
  symlinkSync('deep', join(home, 'project/in'))
  await pull('in/side/new.txt')
  expect(existsSync(join(home, 'project/deep/side/new.txt'))).toBe(true)
  for (const path of ['out/made/new.txt', 'out/new.txt', 'dangling/made/new.txt'])
    await expect(pull(path)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('outside the project'),
    })
  expect([existsSync(join(home, 'outside/made')), existsSync(join(home, 'nothing'))]).toEqual([false, false])
})

test('with a folder to bring it to, the project stays as it is; one that is there already is refused', async () => {
  const to = join(home, 'theirs')
  await pull('deep/new.txt', to)
  expect([readFileSync(join(to, 'deep/new.txt'), 'utf8'), existsSync(join(home, 'project/deep'))]).toEqual(['x', false])
  await expect(pull('new.txt', to)).rejects.toMatchObject({code: 'EEXIST'})
  await expect(pull('../out.txt', join(home, 'others'))).rejects.toMatchObject({code: 'CONFLICT'})
  expect([existsSync(join(home, 'out.txt')), existsSync(join(home, 'others'))]).toEqual([false, false])
})
