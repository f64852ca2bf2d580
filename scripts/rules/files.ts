import {basename, dirname} from 'node:path/posix'
import type {SourceFile} from './imports.ts'

const VAGUE = /(^|[-_/])(utils?|helpers?|common|misc|manager|service|handler|impl)([-_./]|$)/
/** A service is a thing here: a process on a node that outlives the connection. */
const ALLOWED_NAMES =
  /^src\/lib\/head\/service\/|^src\/lib\/(host|protocol)\/service|^node\/flexrack_node\/(schema\/)?service/

/** Lines a file may have, by the end of its name. TypeScript is oxlint's to count. */
const LONGEST: Readonly<Record<string, number>> = {'.py': 300, '.c': 300, '.h': 300, '.mjs': 150, '.js': 150}

/** Nobody reads it from one end to the other: generated, for type checkers. */
const ANY_LENGTH = /^node\/flexrack_node\/schema\//

/** What tests say in one breath, on the rack that a file starts. */
const LONGEST_TEST = 500

/** Functions an index.ts may export. */
const EXPORTS = 6

/**
 * What is wrong with a file by itself, as `path: finding` lines. `places` are folders of this machine that no file
 * names.
 */
export function checkFile({path, text}: SourceFile, places: readonly string[]): string[] {
  const findings: string[] = []
  if (/^(src|node|scripts|bench|native)\//.test(path) && VAGUE.test(path.replace(ALLOWED_NAMES, '')))
    findings.push('a vague name: say what it is')
  const own = Object.entries(LONGEST).find(([end]) => path.endsWith(end))?.[1]
  const longest = own !== undefined && path.startsWith('test/') ? LONGEST_TEST : own
  const lines = countLines(text)
  // Native code has a length of its own (rules/native.ts).
  const isNative = path.startsWith('native/') && !path.endsWith('.py')
  if (longest !== undefined && !isNative && !ANY_LENGTH.test(path) && lines > longest)
    findings.push(`${lines} lines; ${longest} at most`)
  if (path.startsWith('src/lib/') && basename(path) === 'index.ts' && dirname(path) !== 'src/lib/base')
    findings.push(...checkIndex(text))
  for (const place of places) if (text.includes(place)) findings.push(`names a folder of one machine: ${place}`)
  return findings.map((finding) => `${path}: ${finding}`)
}

export function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

/** Classes, constants and types are free; functions are what a caller has to learn. */
function checkIndex(text: string): string[] {
  if (/export\s*\*/.test(text)) return ['exports *: name what is public']
  const lists = [...text.matchAll(/export\s*\{([^}]*)\}/g)].flatMap((match) => (match[1] ?? '').split(','))
  const listed = lists
    .map(
      (name) =>
        name
          .trim()
          .split(/\s+as\s+/)
          .at(-1) ?? '',
    )
    .filter((name) => /^[a-z]/.test(name) && !name.startsWith('type '))
  const declared = [...text.matchAll(/export\s+(?:async\s+)?function\s+(\w+)/g)].map((match) => match[1] ?? '')
  const functions = [...listed, ...declared]
  return functions.length > EXPORTS
    ? [`exports ${functions.length} functions, ${EXPORTS} at most: ${functions.join(', ')}`]
    : []
}
