import {loadRack, saveRack, type Rack, type RackNode} from '../rack/index.ts'
import {textIfThere, writeWhole} from '../base/index.ts'
import {ensureKey} from '../ssh/index.ts'
import type {LocalLayout} from './layout.ts'
import type {LocalNode, LocalRack} from './types.ts'

/**
 * Writes known_hosts and the rack file `local` for nodes that are running. Labels, head and GPU settings that were
 * written into the rack file stay.
 */
export async function writeRackFile(
  layout: LocalLayout,
  rack: LocalRack,
  nodes: LocalNode[],
  user: string,
): Promise<void> {
  const lines = await Promise.all(
    nodes.map(
      async (node) => `[127.0.0.1]:${node.port} ${await ensureKey(layout.node(node.name).hostKey, node.name)}\n`,
    ),
  )
  const known = lines.join('')
  if ((await textIfThere(layout.knownHosts)) !== known) await writeWhole(layout.knownHosts, known)
  // One that cannot be read is replaced: it is ours to write.
  const before = await loadRack(layout.rackFile, {}).catch(() => undefined)
  const names = new Set(nodes.map((node) => node.name))
  const next: Rack = {
    name: 'local',
    path: layout.rackFile,
    nodes: nodes.map((node) => ({
      name: node.name,
      host: '127.0.0.1',
      port: node.port,
      user,
      identityFile: layout.identity,
      knownHosts: layout.knownHosts,
      address: '127.0.0.1',
      root: '~/.flexrack',
      environments: rack.environments,
      labels: before?.nodes.find((old) => old.name === node.name)?.labels ?? {},
      ...gpuOf(before, node.name),
    })),
    ...(before?.gpu && {gpu: before.gpu}),
    head:
      before && names.has(before.head.node)
        ? before.head
        : {bind: '127.0.0.1', ...before?.head, node: nodes[0]?.name ?? ''},
  }
  await saveRack(next)
}

function gpuOf(before: Rack | undefined, name: string): Pick<RackNode, 'gpu'> {
  const gpu = before?.nodes.find((old) => old.name === name)?.gpu
  return gpu ? {gpu} : {}
}

/** Whether the rack file `local` is one that we wrote; another one of that name is not ours to replace. */
export async function isOurs(layout: LocalLayout): Promise<boolean> {
  const rack = await loadRack(layout.rackFile, {}).catch(() => undefined)
  return rack !== undefined && rack.nodes.every((node) => node.identityFile === layout.identity)
}
