import {existsSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'

/** Whether this runs from its sources, without a build. */
export const runsFromSources: boolean = import.meta.url.endsWith('.ts')

/**
 * The folder of flexrack's package.json. Looks upwards from here: it is at the same place for src, dist, where a module
 * may be in any file, and an installed package.
 */
export function ownRoot(from: string = import.meta.dirname): string {
  if (existsSync(join(from, 'package.json')) && existsSync(join(from, 'node', 'flexrack_node'))) return from
  if (dirname(from) === from) throw new Error('package.json is missing from this installation of flexrack')
  return ownRoot(dirname(from))
}

/** Flexrack's own. */
export async function ownVersion(): Promise<string> {
  return (JSON.parse(await readFile(join(ownRoot(), 'package.json'), 'utf8')) as {version: string}).version
}
