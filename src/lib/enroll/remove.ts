import {rm} from 'node:fs/promises'
import {CliError} from '../base/index.ts'
import type {Plan} from '../plan/index.ts'
import {editRack, type Rack} from '../rack/index.ts'

/** What `rack remove` would do; without names the whole rack goes. Nothing on the nodes is touched. Throws as removeNodes. */
export function planRemove(rack: Rack, names: string[], force: boolean): Plan {
  // The local rack's servers would go on running, unseen.
  if (rack.name === 'local' && !force) throw new CliError('CONFLICT', 'the rack "local" is kept by flexrack local', {hint: 'flexrack local down, or flexrack local up --nodes N'})
  const rest = names.length > 0 ? withoutNodes(rack, names, force) : undefined
  const title = rest ? `Take ${names.join(', ')} out of ${rack.path}` : `Remove ${rack.path} with ${rack.nodes.length} ${rack.nodes.length === 1 ? 'node' : 'nodes'}`
  return {command: 'rack remove', steps: [{id: 'write', node: null, kind: 'rack.write', title, input: {path: rack.path, nodes: rest?.nodes.map((node) => node.name) ?? []}, needs: []}]}
}

/** Takes nodes out of a rack; without names, or if none is left, the file goes. Returns the rack that is left. Throws NOT_FOUND, CONFLICT. */
export async function removeNodes(rack: Rack, names: string[], force: boolean): Promise<Rack | undefined> {
  if (names.length === 0 || !withoutNodes(rack, names, force)) {
    await rm(rack.path, {force: true})
    return undefined
  }
  return editRack(rack.path, (now) => withoutNodes(now, names, force) ?? now)
}

/** What is left of a rack without some nodes; undefined if nothing is. Throws NOT_FOUND, and CONFLICT for the head's node unless forced. */
function withoutNodes(rack: Rack, names: string[], force: boolean): Rack | undefined {
  const unknown = names.filter((name) => !rack.nodes.some((node) => node.name === name))
  if (unknown.length > 0) throw new CliError('NOT_FOUND', `the rack ${rack.name} has no node ${unknown.join(', ')}`, {hint: `flexrack rack show ${rack.name}`, details: {nodes: rack.nodes.map((node) => node.name)}})
  const nodes = rack.nodes.filter((node) => !names.includes(node.name))
  const [first] = nodes
  if (!first) return undefined
  if (!names.includes(rack.head.node)) return {...rack, nodes}
  if (!force) throw new CliError('CONFLICT', `${rack.head.node} is the node of the head: the head would move to ${first.name} and start empty, without its tracking data`, {hint: `flexrack rack remove ${rack.name} ${names.join(' ')} --force`})
  return {...rack, nodes, head: {...rack.head, node: first.name}}
}
