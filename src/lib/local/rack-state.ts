import {randomBytes} from 'node:crypto'
import {CliError, current, ensurePrivateFolder, isCliError, stamped, textIfThere, writeWhole} from '../base/index.ts'
import {askDaemon, controlPath} from './control.ts'
import type {LocalLayout} from './layout.ts'
import type {DaemonState, LocalRack} from './types.ts'

/** rack.json, or undefined where there is no local rack. Throws RACK_INVALID if it cannot be read. */
export async function readRack(layout: LocalLayout): Promise<LocalRack | undefined> {
  const text = await textIfThere(layout.rack)
  if (text === undefined) return undefined
  try {
    return current<LocalRack>('local.rack', JSON.parse(text), layout.rack)
  } catch (error) {
    if (isCliError(error)) throw error
    throw new CliError('RACK_INVALID', `${layout.rack} is not the JSON that flexrack wrote`, {
      hint: 'flexrack local down --purge',
      cause: error,
    })
  }
}

export async function writeRack(layout: LocalLayout, rack: LocalRack): Promise<void> {
  await ensurePrivateFolder(layout.folder)
  await writeWhole(layout.rack, `${JSON.stringify(stamped('local.rack', rack), null, 2)}\n`)
}

export function newRack(layout: LocalLayout): LocalRack {
  return {id: randomBytes(8).toString('hex'), nodes: [], environments: layout.environments, up: false, maxSessions: 64}
}

/** The background process of this rack, if it is there and answers. */
export function daemonState(layout: LocalLayout): Promise<DaemonState | undefined> {
  return askDaemon(controlPath(layout.folder), {ask: 'state'})
}
