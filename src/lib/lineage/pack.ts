import {createHash} from 'node:crypto'
import {promisify} from 'node:util'
import {gunzip} from 'node:zlib'
import {CliError} from '../base/index.ts'
import type {CodeTree} from '../protocol/index.ts'
import {bytesOf, compareText} from './bytes.ts'

/** Most bytes of a pack once it is inflated: what nodes keep (lineage/pack.py: MOST), and as much for headers. */
const MOST_BYTES = 128 << 20
const BLOCK = 512
/** Digits of SHA-256 in a tree, as node/flexrack_node/workspace/tree.py has them. */
const DIGITS = 32

const inflate = promisify(gunzip)

export type PackedEntry = {kind: 'file' | 'executable'; content: Buffer} | {kind: 'link'; target: string}

/** What the digest of a run's code is made of; node/flexrack_node/workspace/frozen.py computes the same. Pure. */
export function treeDigest({entries}: CodeTree): string {
  const lines = entries.map(([path, kind, digest]) => `${path}\0${kind}\0${digest}\n`).toSorted(compareText)
  const sha = createHash('sha256')
  for (const line of lines) sha.update(bytesOf(line))
  return sha.digest('hex')
}

/**
 * The contents of a pack, by path. It is read strictly: regular files and links of the tar that a node writes, and
 * nothing else. Errors: CHECK_FAILED.
 */
export async function readPack(bytes: Buffer, most = MOST_BYTES): Promise<Map<string, PackedEntry>> {
  let tar: Buffer
  try {
    tar = await inflate(bytes, {maxOutputLength: most})
  } catch (error) {
    throw damaged((error as Error).message)
  }
  const found = new Map<string, PackedEntry>()
  let said: Record<string, string> = {}
  for (let at = 0; at + BLOCK <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK)
    if (header.every((byte) => byte === 0)) break
    const size = Number(said.size ?? Number.parseInt(field(header, 124, 12), 8))
    if (!Number.isSafeInteger(size) || size < 0 || at + BLOCK + size > tar.length) throw damaged('it is cut off')
    const content = tar.subarray(at + BLOCK, at + BLOCK + size)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    const type = String.fromCharCode(header[156] ?? 0)
    if (type === 'x') {
      said = paxOf(content)
      continue
    }
    const prefix = field(header, 345, 155)
    const path = said.path ?? (prefix === '' ? field(header, 0, 100) : `${prefix}/${field(header, 0, 100)}`)
    if (!isInside(path)) throw damaged(`${JSON.stringify(path)} is not a path inside the project`)
    if (found.has(path)) throw damaged(`${JSON.stringify(path)} is in it twice`)
    if (type === '2') found.set(path, {kind: 'link', target: said.linkpath ?? field(header, 157, 100)})
    else if (type === '0')
      found.set(path, {kind: Number.parseInt(field(header, 100, 8), 8) & 0o100 ? 'executable' : 'file', content})
    else throw damaged(`${JSON.stringify(path)} is neither a file nor a link`)
    said = {}
  }
  return found
}

/**
 * Paths of the tree whose content the pack does not have as the tree says, with what is wrong. `allowed`: those that may be missing. Pure.
 */
export function differences(
  tree: CodeTree,
  packed: ReadonlyMap<string, PackedEntry>,
  allowed: ReadonlySet<string>,
): string[] {
  const wrong: string[] = []
  const named = new Set<string>()
  for (const [path, kind, digest] of tree.entries) {
    named.add(path)
    const entry = packed.get(path)
    if (!entry) {
      if (!allowed.has(path)) wrong.push(`${path} is missing`)
    } else if (entry.kind !== kind || contentDigest(entry) !== digest) wrong.push(`${path} is another one`)
  }
  for (const path of packed.keys()) if (!named.has(path)) wrong.push(`${path} was not in it`)
  return wrong
}

/** Relative, below the folder, by its text. Pure. */
export function isInside(path: string): boolean {
  const parts = path.split('/')
  return path !== '' && !path.includes('\0') && parts.every((part) => part !== '' && part !== '.' && part !== '..')
}

function contentDigest(entry: PackedEntry): string {
  return entry.kind === 'link'
    ? entry.target
    : createHash('sha256').update(entry.content).digest('hex').slice(0, DIGITS)
}

function field(header: Buffer, at: number, length: number): string {
  const bytes = header.subarray(at, at + length)
  const end = bytes.indexOf(0)
  return bytes
    .subarray(0, end === -1 ? length : end)
    .toString()
    .trim()
}

/** Records of a PAX header (POSIX.1-2001): `LENGTH KEY=VALUE\n`, the length of all of it in bytes. */
function paxOf(content: Buffer): Record<string, string> {
  const found: Record<string, string> = {}
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at)
    const length = Number(content.subarray(at, space).toString())
    if (space === -1 || !Number.isSafeInteger(length) || length < 5 || at + length > content.length)
      throw damaged('a header in it is none')
    const text = content.subarray(space + 1, at + length - 1).toString()
    const equals = text.indexOf('=')
    const key = text.slice(0, equals)
    if (key === 'path' || key === 'linkpath' || key === 'size') found[key] = text.slice(equals + 1)
    at += length
  }
  return found
}

function damaged(why: string): CliError {
  return new CliError('CHECK_FAILED', `the pack of the code is damaged: ${why}`)
}
