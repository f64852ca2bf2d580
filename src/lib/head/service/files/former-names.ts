import {access, rename} from 'node:fs/promises'
import {join} from 'node:path'

/** What the first heads called their files: the record of the listener, and the key and certificate that it shows. */
const FORMER = [
  ['door.json', 'listener.json'],
  ['tls/door.json', 'tls/listener.json'],
] as const

/** Renames the files of an older head, once, before anything is read: it keeps its ports and its certificate. */
export async function renameFormerFiles(folder: string): Promise<void> {
  for (const [former, name] of FORMER) {
    if (!(await isThere(join(folder, former)))) continue
    if (!(await isThere(join(folder, name)))) await rename(join(folder, former), join(folder, name))
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
