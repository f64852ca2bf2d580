import {execFileSync} from 'node:child_process'
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext, silentReporter} from '../../src/lib/base/index.ts'
import {scanProject} from '../../src/lib/workspace/scan.ts'

let folder: string
const context = makeContext()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flexrack-scan-'))
})

afterEach(() => rmSync(folder, {recursive: true}))

function writeText(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), {recursive: true})
  writeFileSync(join(folder, path), text)
}

const write = (...paths: string[]): void => paths.forEach((path) => writeText(path, ''))
const found = async (): Promise<string[]> => [...(await scanProject(folder, [], context)).files.keys()].sort()

test('agrees with git about which files are ignored', async () => {
  writeText(
    '.gitignore',
    'a?.txt\n**/tmp/**\n!**/tmp/keep\nfoo/*\n!foo/bar\n\\#hash\n*.log\n!/top.log\ntrailing \n[ab].c\nout x/\n',
  )
  writeText('again/.gitignore', '!out x/\n')
  writeText('sub/.gitignore', '*\n!*.py\n!.gitignore\n')
  write(
    'a1.txt',
    'ab.txt',
    'abc.txt',
    'x/tmp/keep',
    'x/tmp/drop',
    'foo/bar',
    'foo/baz',
    '#hash',
    'top.log',
    'x/top.log',
    'trailing',
    'a.c',
    'c.c',
    'sub/m.py',
    'sub/m.txt',
    'sub/d/m.py',
    'again/out x/a.log',
    'again/out x/b',
  )
  execFileSync('git', ['init', '-q', folder])
  const listed = execFileSync(
    'git',
    ['-C', folder, '-c', 'core.excludesFile=', 'ls-files', '-z', '--others', '--exclude-standard'],
    {encoding: 'utf8'},
  )
  expect(await found()).toEqual(listed.split('\0').filter(Boolean).sort())
})

test('refuses names that are not UTF-8 and warns of sockets and pipes', async () => {
  const warnings: string[] = []
  execFileSync('mkfifo', [join(folder, 'pipe')])
  await scanProject(folder, [], makeContext({reporter: {...silentReporter, warn: (text) => warnings.push(text)}}))
  expect(warnings).toEqual(['pipe is neither a file nor a folder nor a link, and stays here'])
  writeFileSync(Buffer.concat([Buffer.from(join(folder, 'bad-')), Buffer.from([0xff])]), '')
  await expect(scanProject(folder, [], context)).rejects.toMatchObject({
    details: {refused: [{why: 'its name is not UTF-8'}]},
  })
})
