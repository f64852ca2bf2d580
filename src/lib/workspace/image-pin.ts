import {rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {randomId, textIfThere} from '../base/index.ts'
import {IMAGE_LINE, LOCK_FILE} from './lock-file.ts'

/**
 * The digest that the lock file has for an image as it is written; undefined where it has none, or one of another
 * image.
 */
export async function pinnedDigest(folder: string, ref: string): Promise<string | undefined> {
  const text = await textIfThere(join(folder, LOCK_FILE))
  for (const line of text?.split('\n') ?? []) {
    const [, name, digest] = IMAGE_LINE.exec(line) ?? []
    if (name === ref) return digest
  }
  return undefined
}

/** Writes it down, instead of what was there of an image; what the file says of packages stays. */
export async function pinDigest(folder: string, ref: string, digest: string): Promise<void> {
  const file = join(folder, LOCK_FILE)
  const text = (await textIfThere(file)) ?? ''
  const others = text
    .split('\n')
    .filter((line) => !IMAGE_LINE.test(line))
    .join('\n')
    .replace(/\n*$/, '')
  const line = `# workspace.image: ${ref} is ${digest}\n`
  const draft = `${file}.${randomId()}`
  try {
    await writeFile(draft, others === '' ? line : `${others}\n${line}`)
    await rename(draft, file)
  } finally {
    await rm(draft, {force: true})
  }
}
