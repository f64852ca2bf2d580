import {isAbsolute, relative} from 'node:path'

/** A path as people see it: relative where it is inside the current folder, else absolute. */
export function shownPath(path: string, from: string = process.cwd()): string {
  const short = relative(from, path)
  if (short === '') return '.'
  return short === '..' || short.startsWith('../') || isAbsolute(short) ? path : short
}
