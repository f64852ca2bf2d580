import {execFileSync} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {readSource} from '../../src/lib/train/source.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-source-'))
})
afterEach(() => rm(folder, {recursive: true, force: true}))

const git = (...words: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
    encoding: 'utf8',
  })

test('the commit, the branch and every change are known, also of files that git does not track', async () => {
  git('init', '-q', '-b', 'work')
  await writeFile(join(folder, 'train.py'), 'old\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
  expect(await readSource(folder)).toEqual({
    commit: git('rev-parse', 'HEAD').trim(),
    branch: 'work',
    changed: [],
    diff: '',
  })
  await writeFile(join(folder, 'train.py'), 'new\n')
  await writeFile(join(folder, 'größe.py'), 'x\n')
  const {changed, diff} = await readSource(folder)
  expect(changed.toSorted()).toEqual(['größe.py', 'train.py'])
  expect(diff).toContain('-old\n+new\n')
})

test('a folder that is no repository, or one without a commit, has no source', async () => {
  expect(await readSource(folder)).toEqual({changed: [], diff: ''})
  git('init', '-q')
  expect(await readSource(folder)).toEqual({changed: [], diff: ''})
})
