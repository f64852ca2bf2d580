import {mkdir, open, realpath, rm, symlink} from 'node:fs/promises'
import {dirname, join, posix, sep} from 'node:path'
import {CliError} from '../base/index.ts'
import {isInside, type PackedEntry} from './pack.ts'

/**
 * Writes the contents of a pack into a folder that it makes: nothing that is there is touched, and nothing leaves it.
 * All folders come first and links last, so that no folder, file or link is made through a link: by several of them,
 * each of which stays inside by its text, a path could lead out. Returns the links that were left out, as they lead out
 * of the folder. Errors: CHECK_FAILED, CONFLICT (the folder is there).
 */
export async function checkOut(entries: ReadonlyMap<string, PackedEntry>, folder: string): Promise<string[]> {
  const paths = [...entries.keys()].toSorted()
  for (const path of paths)
    if (!isInside(path)) throw new CliError('CHECK_FAILED', `${JSON.stringify(path)} is not a path inside the project`)
  await mkdir(dirname(folder), {recursive: true, mode: 0o700})
  await whole(mkdir(folder, {mode: 0o700}), folder)
  for (const path of paths) await whole(mkdir(join(folder, dirname(path)), {recursive: true, mode: 0o700}), path)
  for (const path of paths) {
    const entry = entries.get(path)
    if (!entry || entry.kind === 'link') continue
    const file = await whole(open(join(folder, path), 'wx', entry.kind === 'executable' ? 0o755 : 0o644), path)
    await file.writeFile(entry.content).finally(() => file.close())
  }
  const left: string[] = []
  const made: string[] = []
  for (const path of paths) {
    const entry = entries.get(path)
    if (entry?.kind !== 'link') continue
    if (leaves(path, entry.target)) {
      left.push(path)
      continue
    }
    await whole(symlink(entry.target, join(folder, path)), path)
    made.push(path)
  }
  const root = await realpath(folder)
  for (const path of made) {
    if (await staysIn(root, join(folder, path))) continue
    await rm(join(folder, path))
    left.push(path)
  }
  return left.toSorted()
}

/** As the links that are there lead: each may stay inside by its text, and lead out through another one. */
async function staysIn(root: string, link: string): Promise<boolean> {
  try {
    const to = await realpath(link)
    return to === root || to.startsWith(`${root}${sep}`)
  } catch (error) {
    return (error as {code?: string}).code === 'ENOENT' // it leads nowhere
  }
}

/** By its text. Pure. */
function leaves(path: string, target: string): boolean {
  const to = posix.normalize(posix.join(posix.dirname(path), target))
  return posix.isAbsolute(target) || target.includes('\0') || to === '..' || to.startsWith('../')
}

async function whole<T>(doing: Promise<T>, path: string): Promise<T> {
  try {
    return await doing
  } catch (error) {
    const {code} = error as {code?: string}
    if (code === 'EEXIST' || code === 'ENOTDIR')
      throw new CliError('CONFLICT', `${path} is in the way of itself or of something else`, {cause: error})
    throw error
  }
}
