import {open} from 'node:fs/promises'
import {setTimeout as pause} from 'node:timers/promises'
import {CliError, type Context} from '../base/index.ts'
import {findBackground} from './record.ts'

const LOOK_MS = 250

/**
 * Gives what a background command has said, in whole lines, from the beginning; with `follow` until it has ended or
 * `signal` is aborted. Only of commands of this machine, or of one with the same home. Errors: NOT_FOUND.
 */
export async function followLog(
  name: string,
  {follow, onLines}: {follow: boolean; onLines: (lines: string[]) => void},
  context: Context,
): Promise<void> {
  const found = await findBackground(name, context)
  if (!found) throw new CliError('NOT_FOUND', `nothing was busy with ${name} in the background`)
  const file = await open(found.log, 'r').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new CliError(
          'NOT_FOUND',
          `the log ${found.log} is not here${found.state === 'elsewhere' ? `, but on ${found.machine}` : ' any more'}`,
        )
      : error
  })
  try {
    let rest = ''
    const decoder = new TextDecoder()
    const read = async (): Promise<void> => {
      const buffer = Buffer.alloc(65_536)
      for (;;) {
        const {bytesRead} = await file.read(buffer, 0, buffer.length, null)
        if (bytesRead === 0) return
        const lines = (rest + decoder.decode(buffer.subarray(0, bytesRead), {stream: true})).split('\n')
        rest = lines.pop() ?? ''
        if (lines.length > 0) onLines(lines)
      }
    }
    for (;;) {
      // Looked at before the last reading, so that nothing of what it says at its end is missed.
      const state = (await findBackground(name, context))?.state
      await read()
      if (!follow || context.signal.aborted || (state !== 'running' && state !== 'elsewhere')) break
      await pause(LOOK_MS, undefined, {signal: context.signal}).catch(() => {})
    }
    if (rest !== '') onLines([rest])
  } finally {
    await file.close()
  }
}
