import {execFileSync} from 'node:child_process'
import {chmod, copyFile, mkdir, mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {PRODUCTS} from '../../scripts/build-native.ts'
import {bringLibraries} from '../../scripts/portable/libraries.ts'
import {HERE, machineOf} from '../../scripts/portable/machines.ts'
import {findFaults, newestGlibc, parseNeeds, readNeeds} from '../../scripts/portable/needs.ts'
import {bringZig, toolEnvironment, writeTools} from '../../scripts/portable/zig.ts'
import {oldRoot} from '../support/old-root.ts'

/** Known to glibc 2.28 by another version, or called by the libraries of gcc alone. */
const KNOWN =
  /^(__libc_start_main|__pthread_key_create|pthread_(create|detach|getspecific|setspecific|join|key_create|key_delete|mutex_consistent|mutexattr_\w+|once|rwlock_\w+|setname_np|sigmask)|dl(addr|close|error|info|open|sym)|[fl]?stat(64)?|__libc_single_threaded|_dl_find_object|arc4random|pthread_cond_clockwait)$/

const root = resolve(import.meta.dirname, '../..')
const built = process.env.FLEXRACK_NATIVE ?? join(root, 'native/build/release')
let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-portable-'))))
afterAll(() => rm(folder, {recursive: true, force: true}))

/** Names of functions that came with a version of glibc after 2.28, as a build with this machine's has them. */
function newer(file: string): string[] {
  const text = execFileSync('readelf', ['--wide', '--dyn-syms', file], {encoding: 'utf8', maxBuffer: 1 << 26})
  return [...text.matchAll(/UND (\w+)@GLIBC_2\.(\d+)/g)]
    .filter(([, , version]) => Number(version) > 28)
    .map(([, name = '']) => name)
}

it('nothing of the native layer calls what an old C library has not', () => {
  const programs = Object.values(PRODUCTS).filter((file) => file !== 'flexrack-ptx-passthrough')
  expect(programs.length).toBe(8)
  expect(
    programs.flatMap((file) =>
      newer(join(built, file))
        .filter((name) => !KNOWN.test(name))
        .map((name) => `${file}: ${name}`),
    ),
  ).toEqual([])
})

it('the check finds what this machine’s own compiler makes: it needs this machine’s C library', () => {
  const needs = readNeeds(join(built, 'flexrack-lease-keeper'))
  expect(findFaults(needs)).toContain('needs GLIBC_2.36; glibc 2.28 has to be enough')
  expect(() => parseNeeds('')).toThrow('dynamically')
})

// Where nothing is kept zig is fetched. Its C++ library would take it minutes: npm run test:long builds all of the
// native layer with that (portable.long.test.ts).
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
