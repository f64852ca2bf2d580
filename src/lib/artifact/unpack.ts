import {mkdir} from 'node:fs/promises'
import {posix} from 'node:path'
import type {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {count} from './count.ts'
import type {TransferOptions, Unpacked} from './types.ts'

/**
 * Unpacks a tar stream into a folder that nobody else uses yet (made if missing). Nothing lands outside it: absolute
 * names and `..` are refused, links that point outside are left out and told. Rejects where the stream breaks off or is
 * no tar.
 */
export async function unpackFiles(stream: Readable, folder: string, options: TransferOptions = {}): Promise<Unpacked> {
  const {Unpack} = await import('tar')
  await mkdir(folder, {recursive: true, mode: 0o700})
  const unpacked: Unpacked = {files: [], bytes: 0, refused: []}
  const unpack = new Unpack({
    cwd: folder,
    strict: true,
    preserveOwner: false,
    filter: (path, entry) => {
      const type = 'type' in entry ? entry.type : undefined
      if (type === 'Directory') return true
      if (type === 'SymbolicLink' || type === 'Link') {
        const link = 'linkpath' in entry ? String(entry.linkpath) : ''
        if (pointsOutside(path, link, type === 'Link')) {
          unpacked.refused.push(path.replace(/^\.\//, ''))
          return false
        }
      }
      unpacked.files.push(path.replace(/^\.\//, ''))
      unpacked.bytes += entry.size ?? 0
      return true
    },
  })
  await pipeline(count(stream, options.onBytes), unpack, {...(options.signal ? {signal: options.signal} : {})})
  return unpacked
}

/**
 * A symbolic link is relative to its own folder, a hard link to the archive's root. One with `..` after a name is not
 * judged by its text: that name may be a link to somewhere higher.
 */
function pointsOutside(path: string, link: string, hard: boolean): boolean {
  const reached = posix.normalize(hard ? link : posix.join(posix.dirname(path), link))
  const climbsLate = /(^|\/)(?!\.{1,2}(\/|$))[^/]+\/(.*\/)?\.\.(\/|$)/.test(link)
  return climbsLate || link.startsWith('/') || reached === '..' || reached.startsWith('../')
}
