import {execFileSync} from 'node:child_process'
import {chmod, copyFile, mkdir, mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {bringLibraries} from '../../scripts/portable/libraries.ts'
import {HERE, machineOf} from '../../scripts/portable/machines.ts'
import {findFaults, newestGlibc, readNeeds} from '../../scripts/portable/needs.ts'
import {bringZig, toolEnvironment, writeTools} from '../../scripts/portable/zig.ts'
import {oldRoot} from '../support/old-root.ts'

const root = resolve(import.meta.dirname, '../..')
const built = process.env.FLEXRACK_NATIVE ?? join(root, 'native/build/release')
let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-portable-'))))
afterAll(() => rm(folder, {recursive: true, force: true}))

// Where nothing is kept zig is fetched. All of the native layer is built with it in portable.long.test.ts, which takes
// much longer.
it('a program that is built for old C libraries starts on an older Debian, where this machine’s does not', async () => {
  const [zig, machine, tools, probe] = [bringZig(), machineOf(HERE), join(folder, 'tools'), join(folder, 'probe')]
  await writeTools(zig, machine, tools)
  await bringLibraries(machine, tools)
  const libraries = ['ssl', 'crypto', 'zstd', 'lz4'].map((name) => join(tools, 'lib', `lib${name}.a`))
  const words = [
    '-O1',
    '-I',
    join(tools, 'include'),
    '-o',
    probe,
    join(root, 'test/fixtures/portable/probe.c'),
    ...libraries,
    '-lpthread',
    '-ldl',
    '-Wl,--strip-debug',
  ]
  execFileSync(join(tools, 'cc'), words, {env: toolEnvironment(zig, machine), stdio: ['ignore', 2, 2]})
  const needs = readNeeds(probe)
  expect(findFaults(needs)).toEqual([])
  expect(Number(newestGlibc(needs).split('.')[1])).toBeLessThanOrEqual(28)
  const old = await oldRoot(machine, join(folder, 'old'))
  await mkdir(join(old.folder, 'opt'), {recursive: true})
  await copyFile(probe, join(old.folder, 'opt/portable'))
  await copyFile(join(built, 'flexrack-bench'), join(old.folder, 'opt/own'))
  for (const file of ['portable', 'own']) await chmod(join(old.folder, 'opt', file), 0o755)
  expect(old.run(['/opt/portable'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^OpenSSL 3\.\S+ .*, zstd 1\.\S+, lz4 1\.\S+\n$/),
  })
  expect(old.run(['/opt/own', 'loopback'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/GLIBC_2\.3\d' not found/),
  })
}, 1_800_000)
