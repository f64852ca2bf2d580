import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {readRequirements} from '../../../src/lib/workspace/requirements.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flexrack-requirements-'))
})

afterEach(() => rmSync(folder, {recursive: true}))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), {recursive: true})
  writeFileSync(join(folder, path), text)
}

test('drops comments and blank lines, and remembers where each line comes from', async () => {
  write('r.txt', '# numbers\r\nnumpy==2.0  # pinned\r\n\r\n--index-url https://example.org/simple#frag\r\nsix\r\n')
  expect(await readRequirements(folder, 'r.txt')).toEqual({
    requirements: 'numpy==2.0\n--index-url https://example.org/simple#frag\nsix\n',
    constraints: '',
    origins: ['r.txt:2', 'r.txt:4', 'r.txt:5'],
  })
})

test('takes in files named with -r, relative to the file that names them, and constraints apart', async () => {
  write('requirements/train.txt', '-r base.txt\n--constraint=../pins/all.txt\ntorch\n')
  write('requirements/base.txt', 'six\n-c../pins/more.txt\n')
  write('pins/all.txt', 'numpy<3\n')
  write('pins/more.txt', 'six<2\n')
  expect(await readRequirements(folder, 'requirements/train.txt')).toEqual({
    requirements: 'six\ntorch\n',
    constraints: 'six<2\nnumpy<3\n',
    origins: ['requirements/base.txt:1', 'requirements/train.txt:3'],
  })
})

test('without a file there is nothing to install', async () => {
  expect(await readRequirements(folder, undefined)).toEqual({requirements: '', constraints: '', origins: []})
})

test('names the line that includes a file which is not there, outside, or itself', async () => {
  write('a.txt', 'six\n-r missing.txt\n')
  await expect(readRequirements(folder, 'a.txt')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('missing.txt (named in a.txt:2)'),
  })
  write('b.txt', '-r ../x.txt\n')
  await expect(readRequirements(folder, 'b.txt')).rejects.toMatchObject({
    code: 'CHECK_FAILED',
    message: expect.stringContaining('outside the project'),
  })
  write('c.txt', '-r d.txt\n')
  write('d.txt', '-r c.txt\n')
  await expect(readRequirements(folder, 'c.txt')).rejects.toMatchObject({
    code: 'CHECK_FAILED',
    message: expect.stringContaining('includes itself'),
  })
})

test.each([
  '-e .',
  './pkg',
  '../pkg[extra]',
  '/opt/pkg',
  'pkg @ file:///opt/pkg',
  '--find-links wheels',
  '-f ./wheels',
])('refuses `%s`, which a node cannot see', async (line) => {
  write('r.txt', `six\n${line}\n`)
  await expect(readRequirements(folder, 'r.txt')).rejects.toMatchObject({
    code: 'CHECK_FAILED',
    details: {origin: 'r.txt:2'},
  })
})

test.each([
  'pkg @ https://example.org/pkg.whl',
  '--find-links https://example.org/',
  '--extra-index-url https://example.org',
  'torch==2.13.0; sys_platform == "linux"',
  'six==1.16.0 \\',
])('lets `%s` through', async (line) => {
  write('r.txt', `${line}\n`)
  expect((await readRequirements(folder, 'r.txt')).requirements).toBe(`${line}\n`)
})
