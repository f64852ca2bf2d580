import {execFileSync} from 'node:child_process'
import {chmod, copyFile, mkdir, mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {PRODUCTS} from '../../scripts/build-native.ts'
import {makeProducts} from '../../scripts/build-portable.ts'
import {HERE, machineOf} from '../../scripts/portable/machines.ts'
import {findFaults, newestGlibc, parseNeeds, readNeeds} from '../../scripts/portable/needs.ts'
import {oldRoot} from '../support/old-root.ts'

/** Known to glibc 2.28 by another version, or called by the libraries of gcc alone. */
const KNOWN = /^(__libc_start_main|__pthread_key_create|pthread_(create|detach|getspecific|setspecific|join|key_create|key_delete|mutex_consistent|mutexattr_\w+|once|rwlock_\w+|setname_np|sigmask)|dl(addr|close|error|info|open|sym)|[fl]?stat(64)?|__libc_single_threaded|_dl_find_object|arc4random|pthread_cond_clockwait)$/

const root = resolve(import.meta.dirname, '../..')
const built = process.env.FLEXRACK_NATIVE ?? join(root, 'native/build/release')
let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-portable-'))))
afterAll(() => rm(folder, {recursive: true, force: true}))

/** Names of functions that came with a version of glibc after 2.28, as a build with this machine's has them. */
function newer(file: string): string[] {
  const text = execFileSync('readelf', ['--wide', '--dyn-syms', file], {encoding: 'utf8', maxBuffer: 1 << 26})
  return [...text.matchAll(/UND (\w+)@GLIBC_2\.(\d+)/g)].filter(([, , version]) => Number(version) > 28).map(([, name = '']) => name)
}

it('nothing of the native layer calls what an old C library has not', () => {
  const programs = Object.values(PRODUCTS).filter((file) => file !== 'flexrack-ptx-passthrough')
  expect(programs.length).toBe(7)
  expect(programs.flatMap((file) => newer(join(built, file)).filter((name) => !KNOWN.test(name)).map((name) => `${file}: ${name}`))).toEqual([])
})

it('the check finds what this machine’s own compiler makes: it needs this machine’s C library', () => {
  const needs = readNeeds(join(built, 'flexrack-lease-keeper'))
  expect(findFaults(needs)).toContain('needs GLIBC_2.36; glibc 2.28 has to be enough')
  expect(() => parseNeeds('')).toThrow('dynamically')
})

// Where nothing is kept zig is fetched, and makes its C++ library.
it('a program that is built for old C libraries starts on an older Debian, where this machine’s does not', async () => {
  const name = 'flexrack-bench'
  await makeProducts(machineOf(HERE), [name], join(folder, 'made'))
  const needs = readNeeds(join(folder, 'made', name))
  expect(findFaults(needs)).toEqual([])
  expect(needs.libraries).not.toContain('libstdc++.so.6')
  expect(Number(newestGlibc(needs).split('.')[1])).toBeLessThanOrEqual(28)
  const old = await oldRoot(machineOf(HERE), join(folder, 'old'))
  await mkdir(join(old.folder, 'opt'), {recursive: true})
  await copyFile(join(folder, 'made', name), join(old.folder, 'opt/portable'))
  await copyFile(join(built, name), join(old.folder, 'opt/own'))
  for (const file of ['portable', 'own']) await chmod(join(old.folder, 'opt', file), 0o755)
  expect(old.run(['/opt/portable', 'loopback'])).toMatchObject({status: 0, stdout: expect.stringContaining('"rtt_us"')})
  expect(old.run(['/opt/own', 'loopback'])).toMatchObject({status: 1, stderr: expect.stringMatching(/GLIBC_2\.3\d' not found/)})
}, 1_800_000)
