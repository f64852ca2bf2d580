import {execFileSync} from 'node:child_process'
import {join, resolve} from 'node:path'
import {expect, it} from 'vitest'
import {PRODUCTS} from '../../scripts/build-native.ts'
import {findFaults, parseNeeds, readNeeds} from '../../scripts/portable/needs.ts'

/** Known to glibc 2.28 by another version, or called by the libraries of gcc alone. */
const KNOWN =
  /^(__libc_start_main|__pthread_key_create|pthread_(create|detach|getspecific|setspecific|join|key_create|key_delete|mutex_consistent|mutexattr_\w+|once|rwlock_\w+|setname_np|sigmask)|dl(addr|close|error|info|open|sym)|[fl]?stat(64)?|__libc_single_threaded|_dl_find_object|arc4random|pthread_cond_clockwait)$/

const root = resolve(import.meta.dirname, '../..')
const built = process.env.FLEXRACK_NATIVE ?? join(root, 'native/build/release')

/** Names of functions that came with a version of glibc after 2.28, as a build with this machine's has them. */
function newer(file: string): string[] {
  const text = execFileSync('readelf', ['--wide', '--dyn-syms', file], {encoding: 'utf8', maxBuffer: 1 << 26})
  return [...text.matchAll(/UND (\w+)@GLIBC_2\.(\d+)/g)]
    .filter(([, , version]) => Number(version) > 28)
    .map(([, name = '']) => name)
}

// What is built for old C libraries runs on one: portable-probe.long.test.ts, portable.long.test.ts.
it('nothing of the native layer calls what an old C library has not', () => {
  const programs = Object.values(PRODUCTS).filter((file) => file !== 'flexrack-ptx-passthrough')
  expect(programs.length).toBe(9)
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
