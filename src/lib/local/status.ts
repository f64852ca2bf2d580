import type {Context} from '../base/index.ts'
import {localLayout} from './layout.ts'
import {listRackProcesses} from './rack-processes.ts'
import {daemonState, readRack} from './rack-state.ts'
import type {LocalStatus} from './types.ts'

/** How the local rack is, from its files, its process and /proc; changes nothing and opens no SSH connection. */
export async function localStatus(ctx: Context): Promise<LocalStatus> {
  const layout = localLayout(ctx.env)
  const rack = await readRack(layout)
  const empty = {id: null, pid: null, startedAt: null, rackFile: layout.rackFile, folder: layout.folder, nodes: []}
  if (!rack) return {...empty, state: 'absent'}
  const [daemon, processes] = await Promise.all([daemonState(layout), listRackProcesses(layout, rack)])
  return {
    ...empty,
    state: daemon ? 'running' : rack.up ? 'crashed' : 'stopped',
    id: rack.id,
    pid: daemon?.pid ?? null,
    startedAt: daemon?.startedAt ?? null,
    nodes: (daemon?.nodes ?? rack.nodes).map((node) => ({
      ...node,
      home: layout.node(node.name).home,
      processes: processes.filter((one) => one.node === node.name).length,
    })),
  }
}
