/** What a program or library needs of the machine that it is loaded on, and shows to others. */
import {execFileSync} from 'node:child_process'
import {OLDEST_GLIBC} from './machines.ts'

export interface Needs {
  /** Shared libraries, by their names. */
  libraries: string[]
  /** Versions of symbols, such as GLIBC_2.17. */
  versions: string[]
  /** Symbols of its own that it shows. */
  shown: string[]
}

/** Parts of glibc, and nothing that is a package of its own. */
const LIBRARIES = /^(lib(c|m)\.so\.6|lib(dl|pthread)\.so\.[02]|librt\.so\.1|ld-linux-[a-z0-9-]+\.so\.\d)$/
/** The APIs: what else is shown meets the symbols of the process that loads it. */
const API = /^(cu|cl|nvml)[A-Z]/

/** Reads a file as readelf(1) does, of any machine. Throws where it is none for a loader. */
export function readNeeds(file: string): Needs {
  return parseNeeds(
    execFileSync('readelf', ['--wide', '--dynamic', '--version-info', '--dyn-syms', file], {
      encoding: 'utf8',
      env: {...process.env, LC_ALL: 'C'},
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
}

/** readelf's words. Pure. */
export function parseNeeds(text: string): Needs {
  const all = (pattern: RegExp): string[] =>
    [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))].sort()
  if (!text.includes('(NEEDED)')) throw new Error('nothing that is loaded dynamically: it has to need libc at least')
  return {
    libraries: all(/\(NEEDED\)\s+Shared library: \[(.+?)\]/g),
    versions: all(/\bName: ([A-Z]+[A-Z_0-9.]*_[0-9.]+|GLIBC_PRIVATE|GLIBC_ABI_\w+)\s+Flags:/g),
    shown: all(
      /^\s*\d+: [0-9a-f]+\s+\d+ (?:FUNC|OBJECT|TLS|IFUNC|NOTYPE)\s+(?:GLOBAL|WEAK|UNIQUE)\s+(?:DEFAULT|PROTECTED)\s+(?!UND\b)\w+ ([^\s@]+)$/gm,
    ),
  }
}

/**
 * Why a file does not run wherever glibc `oldest` or a newer one is, with nothing else installed; none if it does.
 * Pure.
 */
export function findFaults({libraries, versions, shown}: Needs, oldest: string = OLDEST_GLIBC): string[] {
  return [
    ...libraries.filter((name) => !LIBRARIES.test(name)).map((name) => `needs the library ${name}`),
    ...versions.filter((name) => !isOld(name, oldest)).map((name) => `needs ${name}; glibc ${oldest} has to be enough`),
    ...shown.filter((name) => !API.test(name)).map((name) => `shows ${name}, which is of no API`),
  ]
}

/** The newest version of glibc that is needed. */
export function newestGlibc({versions}: Needs): string {
  return (
    versions
      .flatMap((name) => /^GLIBC_(\d[\d.]*)$/.exec(name)?.[1] ?? [])
      .sort(compare)
      .at(-1) ?? ''
  )
}

function isOld(name: string, oldest: string): boolean {
  const version = /^GLIBC_(\d[\d.]*)$/.exec(name)?.[1]
  return version !== undefined && compare(version, oldest) <= 0
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]]
  return (left[0] ?? 0) - (right[0] ?? 0) || (left[1] ?? 0) - (right[1] ?? 0) || (left[2] ?? 0) - (right[2] ?? 0)
}
