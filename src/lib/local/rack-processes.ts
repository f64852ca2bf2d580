import {CliError, count, current, textIfThere} from '../base/index.ts'
import type {LocalGroup} from '../protocol/index.ts'
import type {LocalLayout} from './layout.ts'
import {endProcesses, findProcesses} from './processes.ts'
import type {FoundProcess, LocalRack} from './types.ts'

/** What runs on the rack's nodes, or on one of them. */
export async function listRackProcesses(layout: LocalLayout, rack: LocalRack, node?: string): Promise<FoundProcess[]> {
  const found = await findProcesses(rack.id, await recordedGroups(layout))
  return node === undefined ? found : found.filter((one) => one.node === node)
}

/** Ends it all and proves it. Returns how many there were. Throws NODE_UNFIT naming what cannot be ended. */
export async function endRackProcesses(
  layout: LocalLayout,
  rack: LocalRack,
  graceMs: number,
  node?: string,
): Promise<number> {
  const {ended, survived} = await endProcesses(() => listRackProcesses(layout, rack, node), graceMs)
  if (survived.length > 0) {
    throw new CliError(
      'NODE_UNFIT',
      `${count(survived.length, 'process of the local rack does', 'processes of the local rack do')} not end: ${survived.map((one) => one.pid).join(', ')}`,
      {
        details: {processes: survived},
        hint: 'flexrack local down',
      },
    )
  }
  return ended
}

async function recordedGroups(layout: LocalLayout): Promise<LocalGroup[]> {
  const text = await textIfThere(layout.groups)
  return (text ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => current<LocalGroup>('local.group', JSON.parse(line), layout.groups))
}
