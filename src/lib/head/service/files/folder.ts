import {chmod, lstat, mkdir} from 'node:fs/promises'
import {logLine} from '../log.ts'

/**
 * Makes the head's folder, or makes sure that it is one that nobody else gets into: MLflow's socket in it opens
 * everything to who reaches it. Throws where it is somebody else's, a link, or was open to be written to by others, who
 * may have left what they like in it.
 */
export async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, {recursive: true, mode: 0o700})
  const found = await lstat(folder)
  if (!found.isDirectory())
    throw new Error(`${folder} is not a folder but a link or another thing; the head does not use it`)
  if (found.uid !== process.getuid?.())
    throw new Error(`${folder} belongs to user ${found.uid}, not to ${process.getuid?.()}; the head does not use it`)
  if ((found.mode & 0o022) !== 0)
    throw new Error(
      `${folder} can be written to by other users; look whether all in it is yours, then chmod 700 ${folder}`,
    )
  if ((found.mode & 0o077) === 0) return
  await chmod(folder, 0o700)
  logLine(`${folder} was open to other users (mode ${(found.mode & 0o777).toString(8)}); it is closed now`)
}
