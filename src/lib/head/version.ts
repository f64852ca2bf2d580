import {readFile} from 'node:fs/promises'

/** Flexrack's own. */
export async function ownVersion(): Promise<string> {
  for (const up of ['../../../', '../../../../']) {
    const text = await readFile(new URL(`${up}package.json`, import.meta.url), 'utf8').catch(() => undefined)
    if (text) return (JSON.parse(text) as {version: string}).version
  }
  return 'unknown'
}
