import {mkdir, readdir, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {Paths} from '../../lib/base/index.ts'

/** How many logs are kept. */
const KEPT = 20

/** Writes what a bug report needs to a file of its own, readable by the user only, and returns its path. */
export async function writeBugLog(stack: string, argv: readonly string[], paths: Paths): Promise<string> {
  const folder = join(paths.state, 'logs')
  await mkdir(folder, {recursive: true, mode: 0o700})
  const stamp = new Date().toISOString().replaceAll(':', '').slice(0, 17)
  const file = join(folder, `${stamp}-${process.pid}.log`)
  // Words after the command may be anything; tokens are never among them, but values given to flags are not ours to
  // keep.
  const command = argv
    .map((word) => word.replace(/^(--?[\w-]+)=.*/s, '$1=...'))
    .slice(0, 3)
    .join(' ')
  const about = [
    `command: flexrack ${command}`,
    `node: ${process.version} ${process.platform} ${process.arch}`,
    `when: ${new Date().toISOString()}`,
  ]
  await writeFile(file, `${about.join('\n')}\n\n${stack}\n`, {mode: 0o600})
  const logs = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort()
  for (const name of logs.slice(0, -KEPT)) await rm(join(folder, name), {force: true})
  return file
}
