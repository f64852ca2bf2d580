import {createHash} from 'node:crypto'
import {existsSync} from 'node:fs'
import {readFile, readdir} from 'node:fs/promises'
import {dirname, join} from 'node:path'

/** The node program as it travels: its Python files by name, and a hash of all of them. */
export interface NodeProgram {
  /** 16 hex digits. */
  hash: string
  files: Record<string, string>
  /** The files as JSON, made once for all nodes. */
  json: string
}

let loaded: Promise<NodeProgram> | undefined

/** Reads node/flexrack_node of this package, once a process. */
export function loadProgram(): Promise<NodeProgram> {
  loaded ??= readProgram(programFolder(import.meta.dirname))
  return loaded
}

/**
 * Names are sorted and content is hashed, so the same program has the same hash on every machine. The schemas are for
 * type checkers and stay here.
 */
export async function readProgram(folder: string): Promise<NodeProgram> {
  const names = (await readdir(folder, {recursive: true}))
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.py') && !name.startsWith('schema/'))
    .sort()
  const texts: string[] = []
  // One after the other: all at once they were more open files than the connections to a hundred nodes.
  for (const name of names) texts.push(await readFile(join(folder, name), 'utf8'))
  const files = Object.fromEntries(names.map((name, index) => [name, texts[index] as string]))
  const json = JSON.stringify(files)
  return {hash: createHash('sha256').update(json).digest('hex').slice(0, 16), files, json}
}

/** Looks upwards from here: it is at the same place for src, dist and an installed package. */
export function programFolder(from: string): string {
  const folder = join(from, 'node', 'flexrack_node')
  if (existsSync(join(folder, '__main__.py'))) return folder
  const parent = dirname(from)
  if (parent === from) throw new Error('node/flexrack_node is missing from this installation of flexrack')
  return programFolder(parent)
}
