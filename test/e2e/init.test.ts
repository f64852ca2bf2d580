import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterEach, beforeAll, beforeEach, expect, it} from 'vitest'
import {buildProgram, flexrack, terminal} from '../support/program.ts'

const program = resolve(import.meta.dirname, '../../bin/run.js')
let folder: string
let home: string
let env: NodeJS.ProcessEnv

beforeAll(() => buildProgram())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-init-e2e-'))
  home = join(folder, 'work')
  await mkdir(home)
  env = {FLEXRACK_HOME: join(folder, 'flexrack')}
})
afterEach(() => rm(folder, {recursive: true, force: true}))

const init = (...args: string[]) => flexrack(['init', ...args], {env, cwd: home})

it('writes a project in a pipe without asking, and says what to type next', async () => {
  const {status, stdout, stderr} = await init('My Digits')
  expect({status, stderr}).toEqual({status: 0, stderr: ''})
  expect(stdout).toContain('Project my-digits is in My Digits:\n')
  expect(stdout).toContain("Next:\n  cd 'My Digits'\n  flexrack local up --nodes 3\n")
  expect(await readFile(join(home, 'My Digits', 'flexrack.yaml'), 'utf8')).toMatch(/^name: my-digits$/m)
})

it('asks which template on a terminal', async () => {
  const {stdout} = await terminal([program, 'init', 'x'], [['Which template?', '\u001B[B\r']], {env, cwd: home})
  for (const name of ['pytorch-ddp', 'pytorch-bench', 'pytorch-compile', 'plain']) expect(stdout).toContain(name)
  expect(await readFile(join(home, 'x', 'flexrack.yaml'), 'utf8')).toContain('command: bench.py')
})

it('shows the files with --dry-run and writes none', async () => {
  const {status, stdout} = await init('x', '--template', 'plain', '--dry-run')
  expect(status).toBe(0)
  expect(stdout).toContain(join('x', 'flexrack.yaml'))
  expect(stdout).toContain('nothing was changed')
  expect(await readdir(home)).toEqual([])
})

it('does not write over files without --force', async () => {
  await writeFile(join(home, 'train.py'), 'mine\n')
  const {status, stdout, stderr} = await init('.', '--template', 'plain', '--name', 'x')
  expect({status, stdout}).toEqual({status: 4, stdout: ''})
  expect(stderr).toContain('already has train.py')
  expect(stderr).toContain('--force')
  expect(await readdir(home)).toEqual(['train.py'])
  expect((await init('.', '--template', 'plain', '--name', 'x', '--force')).status).toBe(0)
})

it('answers under --json with the files, and with the error', async () => {
  expect(JSON.parse((await init('x', '-t', 'plain', '--json')).stdout)).toMatchObject({
    name: 'x',
    template: 'plain',
    files: expect.arrayContaining(['flexrack.yaml']),
  })
  const {status, stdout} = await init('y', '-t', 'plian', '--json')
  expect(status).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'USAGE',
      message: 'there is no template "plian"; did you mean "plain"?',
      hint: expect.stringMatching(/^flexrack init .*--template plain$/),
    },
  })
})
