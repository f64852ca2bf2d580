import {PassThrough, type Readable} from 'node:stream'

/**
 * A tar stream of `files` (relative to `folder`), each entry alone: a folder's content comes only if it is named too.
 * Owners and times of access are left out.
 */
export async function packFiles(folder: string, files: string[]): Promise<Readable> {
  const {Pack} = await import('tar')
  const pack = new Pack({cwd: folder, portable: true, noDirRecurse: true, strict: true, follow: false})
  const out = new PassThrough({highWaterMark: 262_144})
  pack.on('error', (error) => out.destroy(error as Error))
  pack.pipe(out)
  // A leading @ would name an archive to take in (tar's command line); `./` keeps it a name.
  for (const file of files) pack.add(file.startsWith('@') ? `./${file}` : file)
  pack.end()
  return out
}
