import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {scanProject} from '../../../src/lib/workspace/scan.ts'

let folder: string
const context = makeContext()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flexrack-scan-'))
})

afterEach(() => rmSync(folder, {recursive: true}))

function write(...paths: string[]): void {
  for (const path of paths) writeText(path, '')
}

function writeText(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), {recursive: true})
  writeFileSync(join(folder, path), text)
}

const found = async (exclude: string[] = []): Promise<string[]> =>
  [...(await scanProject(folder, exclude, context)).files.keys()].sort()

test('leaves out what .gitignore files say, each for its own folder and below, the nearest one deciding', async () => {
  writeText('.gitignore', '*.pt\n/data\nbuild/\n')
  writeText('models/.gitignore', '!best.pt\n/local.txt\n')
  write(
    'a.pt',
    'a.py',
    'data/x',
    'src/data/x',
    'build/x',
    'src/build/x',
    'models/best.pt',
    'models/last.pt',
    'models/local.txt',
    'models/deep/local.txt',
    'models/deep/best.pt',
  )
  expect(await found()).toEqual([
    '.gitignore',
    'a.py',
    'models/.gitignore',
    'models/best.pt',
    'models/deep/best.pt',
    'models/deep/local.txt',
    'src/data/x',
  ])
})

test('cannot bring back what is in a folder that is left out, as in git', async () => {
  writeText('.gitignore', 'out/\n!out/keep.txt\n')
  write('out/keep.txt')
  expect(await found()).toEqual(['.gitignore'])
})

test('leaves out workspace.sync.exclude, which is stronger than .gitignore in both directions', async () => {
  writeText('.gitignore', 'model.onnx\n')
  write('model.onnx', 'data/a', 'b.py')
  expect(await found(['data/', '!model.onnx'])).toEqual(['.gitignore', 'b.py', 'model.onnx'])
})

test('never takes .git or .flexrack, at any depth, and usually not what Python leaves behind', async () => {
  write('.git/config', 'vendor/.git/config', '.flexrack/x', 'pkg/__pycache__/a.pyc', '.venv/bin/python', 'a.py')
  writeText('module/.git', 'gitdir: ../.git/modules/module\n')
  expect(await found(['!.git/'])).toEqual(['a.py'])
  expect(await found(['!__pycache__/'])).toEqual(['a.py', 'pkg/__pycache__/a.pyc'])
})

test('keeps links that stay inside, also those that are written as absolute paths', async () => {
  write('pkg/a.py')
  symlinkSync('pkg/a.py', join(folder, 'here'))
  symlinkSync(join(folder, 'pkg'), join(folder, 'pkg/self'))
  symlinkSync('nowhere', join(folder, 'dangling'))
  expect(Object.fromEntries((await scanProject(folder, [], context)).links)).toEqual({
    here: 'pkg/a.py',
    'pkg/self': '.',
    dangling: 'nowhere',
  })
})

test('refuses links that lead outside, by text or by the way they take, and names all of them', async () => {
  mkdirSync(join(folder, 'sub'))
  symlinkSync('/etc/passwd', join(folder, 'absolute'))
  symlinkSync('../../x', join(folder, 'sub/relative'))
  symlinkSync('.', join(folder, 'sub/dot'))
  symlinkSync('sub', join(folder, 'to-sub'))
  // By text this is <project>/missing; by the way it takes, it is above the project.
  symlinkSync('to-sub/../../missing', join(folder, 'above'))
  await expect(scanProject(folder, [], context)).rejects.toMatchObject({
    code: 'CHECK_FAILED',
    details: {
      refused: expect.arrayContaining([
        expect.objectContaining({path: 'absolute'}),
        expect.objectContaining({path: 'above'}),
        expect.objectContaining({path: 'sub/relative'}),
      ]),
    },
  })
  expect((await scanProject(folder, ['absolute', 'above', 'relative'], context)).links.size).toBe(2)
})

test('a link through a linked folder to its parent is refused though its text stays inside', async () => {
  mkdirSync(join(folder, 'a/b'), {recursive: true})
  symlinkSync('..', join(folder, 'a/b/up'))
  symlinkSync('..', join(folder, 'a/up'))
  symlinkSync('a/up/../missing', join(folder, 'out'))
  await expect(scanProject(folder, [], context)).rejects.toMatchObject({details: {refused: [{path: 'out'}]}})
})

test('tells folders with nothing of the project in them, so that they can be made', async () => {
  writeText('.gitignore', '*.pt\n')
  mkdirSync(join(folder, 'empty/deep'), {recursive: true})
  write('checkpoints/a.pt', 'src/a.py')
  expect((await scanProject(folder, [], context)).emptyFolders.sort()).toEqual(['checkpoints', 'empty/deep'])
})

test('says of any path whether the patterns leave it out, also of one that is not here', async () => {
  writeText('sub/.gitignore', '*.bin\n')
  const {excludes} = await scanProject(folder, ['data/'], context)
  expect(['data/a/b', 'data', 'sub/x.bin', 'x.bin', 'sub/x.py', '.git/config'].map(excludes)).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
  ])
})
