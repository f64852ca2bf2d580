import {randomBytes} from 'node:crypto'
import {chmod, chown, lstat, mkdir, open, readFile, realpath, rename, rm, stat} from 'node:fs/promises'
import {homedir} from 'node:os'
import {dirname, join} from 'node:path'
import type {Context} from '../base/index.ts'

/** ~/.ssh/config, as far as a line is to be put into it. */
export interface UserConfig {
  file: string
  /** Latin1: every byte is a letter. Undefined: it is not there. */
  text: string | undefined
  /** Why it cannot be written: it is read-only, as where another program makes it, or its folder is. */
  readOnly: boolean
}

export async function readUserConfig(context: Context): Promise<UserConfig> {
  const file = join(context.env.HOME || homedir(), '.ssh', 'config')
  const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return {file, text, readOnly: await isDangling(file)}
  const target = await realpath(file)
  const modes = await Promise.all([target, dirname(target)].map(async (path) => (await stat(path)).mode))
  return {file, text, readOnly: modes.some((mode) => (mode & 0o200) === 0)}
}

/** Replaces the file as a whole. A link stays one, and what it points to keeps its mode and owner. */
export async function writeUserConfig({file, text: old}: UserConfig, text: string): Promise<void> {
  if (old === undefined) await mkdir(dirname(file), {recursive: true, mode: 0o700})
  const target = old === undefined ? file : await realpath(file)
  const draft = `${target}.flexrack-${randomBytes(4).toString('hex')}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(text, 'latin1')
    await handle.sync()
    if (old !== undefined) {
      const {mode, uid, gid} = await stat(target)
      await chmod(draft, mode & 0o7777)
      if (uid !== process.getuid?.() || gid !== process.getgid?.()) await chown(draft, uid, gid)
    }
    await rename(draft, target)
  } catch (error) {
    await rm(draft, {force: true})
    throw error
  } finally {
    await handle.close()
  }
}

/** A link to what is not there: to write through it would make a file where somebody else makes one. */
async function isDangling(file: string): Promise<boolean> {
  return lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
}
