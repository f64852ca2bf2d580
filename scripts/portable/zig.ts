/**
 * zig's Clang, from PyPI: it brings C libraries of every age, for every machine, and a C++ library that is linked in.
 */
import {execFileSync} from 'node:child_process'
import {globSync} from 'node:fs'
import {cp, mkdir, writeFile} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import type {Machine} from './machines.ts'

const root = resolve(import.meta.dirname, '..', '..')

export interface Zig {
  program: string
  /** What it answers to `version`. */
  version: string
  /** The C++ libraries that it has made stay here for all checkouts. */
  cache: string
}

/**
 * Exactly what scripts/toolchain.txt says, kept beside the environments of the tests. Throws where the package index
 * does not give it.
 */
export function bringZig(): Zig {
  const environment = execFileSync(
    'python3',
    [join(root, 'scripts/testing/uv.py'), 'locked', 'zig', join(root, 'scripts/toolchain.txt')],
    {encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']},
  ).trim()
  const [program] = globSync(join(environment, 'lib/python3*/site-packages/ziglang/zig'))
  if (!program) throw new Error(`${environment} has no zig`)
  return {
    program,
    version: execFileSync(program, ['version'], {encoding: 'utf8'}).trim(),
    cache: join(dirname(environment), 'zig-cache'),
  }
}

/**
 * CMake links a program only to see who the compiler is. zig would make a C++ library for that, without optimisation,
 * which takes a minute; an object tells the same.
 */
const IDENTIFIED = 'case "$*" in *CompilerId.c*) set -- "$@" -c ;; esac'

/** Compilers by the names that CMake and ccache look for. */
export async function writeTools(zig: Zig, machine: Machine, folder: string): Promise<void> {
  await mkdir(folder, {recursive: true})
  const words = {cc: `cc -target ${machine.target}`, 'c++': `c++ -target ${machine.target}`, ar: 'ar', ranlib: 'ranlib'}
  for (const [name, word] of Object.entries(words))
    await writeFile(join(folder, name), `#!/bin/sh\n${IDENTIFIED}\nexec '${zig.program}' ${word} "$@"\n`, {mode: 0o755})
}

/** How the tools are to be run: the scripts above look alike to ccache in every version of zig. */
export function toolEnvironment(zig: Zig, machine: Machine): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ZIG_GLOBAL_CACHE_DIR: zig.cache,
    ZIG_LOCAL_CACHE_DIR: zig.cache,
    CCACHE_COMPILERTYPE: 'clang',
    CCACHE_COMPILERCHECK: `string:zig ${zig.version} ${machine.target}`,
  }
}

/** Of the C++ library that is linked in. */
export async function copyLicence(zig: Zig, folder: string): Promise<void> {
  await mkdir(folder, {recursive: true})
  await cp(join(dirname(zig.program), 'lib/libcxx/LICENSE.TXT'), join(folder, 'libcxx'))
}
