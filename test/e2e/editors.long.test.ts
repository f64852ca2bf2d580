import {execFile} from 'node:child_process'
import {existsSync} from 'node:fs'
import {mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack} from '../support/program.ts'

/** Editors and file systems that know SSH, unmodified, with a workspace as their host. */
vi.setConfig({testTimeout: 600_000})
let rack: TestLocalRack
let folder: string
let code: string
let env: NodeJS.ProcessEnv
const run = promisify(execFile)

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments()})
  folder = await realpath(await mkdtemp(join(tmpdir(), 'flexrack-editors-')))
  const project = join(folder, 'digits')
  env = {
    ...process.env,
    FLEXRACK_HOME: rack.home,
    HOME: join(folder, 'home'),
    PATH: `${folder}/bin:${process.env.PATH}`,
  }
  for (const one of ['digits', 'home', 'bin', 'mounted']) await mkdir(join(folder, one))
  await writeFile(join(project, 'flexrack.yaml'), 'name: digits\n')
  await writeFile(join(project, 'train.py'), 'print("here")\n')
  // OpenSSH looks for its configuration where the password file says, not in HOME.
  for (const name of ['ssh', 'scp', 'sftp'])
    await writeFile(
      join(folder, 'bin', name),
      `#!/bin/sh\nexec /usr/bin/${name} -F '${folder}/home/.ssh/config' "$@"\n`,
      {
        mode: 0o755,
      },
    )
  const call = (...words: string[]): ReturnType<typeof flexrack> => flexrack(words, {cwd: project, env})
  await call('workspace', 'up')
  await call('workspace', 'ssh-config')
  code = JSON.parse((await call('workspace', 'show', '--json')).stdout)[0].code
}, 600_000)
afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

const there = (name: string): Promise<string> => readFile(join(code, name), 'utf8')

test('Emacs opens, edits and saves a file by TRAMP, runs programs in the environment, and copies and renames files', async () => {
  const {stdout} = await run(
    'emacs',
    ['-Q', '--batch', '-l', resolve(import.meta.dirname, '../fixtures/editors/tramp.el')],
    {
      env: {...env, WHERE: `/ssh:ws-digits:${code}/`},
    },
  )
  expect(stdout).toContain(`said ${code}\n`)
  expect(stdout).toMatch(/\/[0-9a-f]{16}\/bin\/python\n/)
  expect(stdout).toContain('status 7\ncompiled t\nlisted ("renamed.py" "train.py")')
  expect(await there('train.py')).toBe('print("here")\n# edited by Emacs\n')
  expect(await there('renamed.py')).toBe('print("here")\n# edited by Emacs\n')
})

test('Vim reads and writes a file by netrw, which calls scp', async () => {
  const words = ['-u', 'NONE', '-N', '--not-a-term', '-es', '-c', 'runtime plugin/netrwPlugin.vim']
  await run(
    'vim',
    [...words, '-c', `e scp://ws-digits/${code}/train.py`, '-c', 'normal Go# edited by Vim', '-c', 'w', '-c', 'qa!'],
    {env},
  )
  expect(await there('train.py')).toContain('print("here")\n')
  expect(await there('train.py')).toMatch(/# edited by Vim\n$/)
})

test.skipIf(!existsSync('/dev/fuse'))(
  'sshfs mounts the workspace: files are read, written, renamed and removed',
  async () => {
    const mounted = join(folder, 'mounted')
    await run('sshfs', [`ws-digits:${code}`, mounted], {env})
    try {
      await writeFile(join(mounted, 'new.txt'), 'x'.repeat(3_000_000))
      await run('mv', [join(mounted, 'new.txt'), join(mounted, 'moved.txt')])
      expect((await there('moved.txt')).length).toBe(3_000_000)
      expect(await readFile(join(mounted, 'train.py'), 'utf8')).toBe(await there('train.py'))
      await rm(join(mounted, 'moved.txt'))
      expect(await readdir(code)).not.toContain('moved.txt')
    } finally {
      await run('fusermount', ['-u', mounted]).catch(() => run('umount', [mounted]))
    }
  },
)
