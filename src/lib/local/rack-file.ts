import {mkdir, readFile} from 'node:fs/promises'
import {dirname} from 'node:path'
import {stringify} from 'yaml'
import {writeWhole} from './files.ts'
import {ensureKey} from './keys.ts'
import type {LocalLayout} from './layout.ts'
import type {LocalNode, LocalRack} from './types.ts'

/** Writes known_hosts and the rack file `local` for nodes that are running. Nothing is touched where nothing changed. */
export async function writeRackFile(layout: LocalLayout, rack: LocalRack, nodes: LocalNode[], user: string): Promise<void> {
  const lines = await Promise.all(nodes.map(async (node) => `[127.0.0.1]:${node.port} ${await ensureKey(layout.node(node.name).hostKey, node.name)}\n`))
  await writeIfChanged(layout.knownHosts, lines.join(''))
  await mkdir(dirname(layout.rackFile), {recursive: true, mode: 0o700})
  await writeIfChanged(layout.rackFile, stringify(rackDocument(layout, rack, nodes, user)))
}

function rackDocument(layout: LocalLayout, rack: LocalRack, nodes: LocalNode[], user: string): unknown {
  return {
    nodes: nodes.map((node) => ({
      name: node.name,
      host: '127.0.0.1',
      port: node.port,
      user,
      identity_file: layout.identity,
      known_hosts: layout.knownHosts,
      address: '127.0.0.1',
      environments: rack.environments,
    })),
    head: {node: nodes[0]?.name},
  }
}

async function writeIfChanged(file: string, text: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) !== text) await writeWhole(file, text)
}
