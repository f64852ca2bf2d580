/** The files of a folder that becomes a data set; which of a project's folder count is src/lib/workspace/scan.ts. */
import {lstatSync, readdirSync, statSync, type Stats} from 'node:fs'
import {join} from 'node:path'
import {setImmediate} from 'node:timers/promises'
import {CliError, throwIfInterrupted} from '../base/index.ts'

/** By path, links as the files that they lead to. Errors: CHECK_FAILED (a link to a folder, a name that is not UTF-8). */
export async function filesBelow(folder: string, signal: AbortSignal): Promise<Map<string, Stats>> {
  const found = new Map<string, Stats>()
  const pending = ['']
  while (pending.length > 0) {
    await setImmediate()
    throwIfInterrupted(signal)
    const base = pending.pop() as string
    for (const item of readdirSync(join(folder, base), {withFileTypes: true})) {
      const path = base + item.name
      if (item.name.includes('\uFFFD'))
        throw new CliError('CHECK_FAILED', `the name of ${path} is not UTF-8`, {details: {path}})
      if (item.isDirectory()) pending.push(`${path}/`)
      else if (item.isFile()) found.set(path, lstatSync(join(folder, path)))
      else if (item.isSymbolicLink()) {
        const target = statSync(join(folder, path), {throwIfNoEntry: false})
        if (!target?.isFile())
          throw new CliError(
            'CHECK_FAILED',
            `${path} is a link to ${target ? 'a folder' : 'nothing'}: of links, only those to files are kept, as what they lead to`,
            {details: {path}},
          )
        found.set(path, target)
      }
    }
  }
  return found
}
