import {rm} from 'node:fs/promises'
import {CliError} from '../base/index.ts'
import type {PlanOf, StepOf} from '../plan/index.ts'
import {editRack, type Rack} from '../rack/index.ts'
import type {EnrollKinds} from './carry-out.ts'

/**
 * What `rack remove` would do; without names, or if no node is left, the whole rack goes. Nothing on the nodes is
 * touched. Pure. Throws NOT_FOUND, CONFLICT.
 */
export function planRemove(rack: Rack, names: string[], force: boolean): PlanOf<EnrollKinds> {
  // The local rack's servers would go on running, unseen.
  if (rack.name === 'local' && !force)
    throw new CliError('CONFLICT', 'the rack "local" is kept by flexrack local', {
      hint: 'flexrack local down, or flexrack local up --nodes N',
    })
  const {path} = rack
  const rest = names.length > 0 ? withoutNodes(rack, names, force) : undefined
  const step: StepOf<EnrollKinds> = rest
    ? {
        id: 'write',
        node: null,
        kind: 'rack.take-out',
        title: `Take ${names.join(', ')} out of ${path}`,
        input: {path, nodes: names, force},
        needs: [],
      }
    : {
        id: 'write',
        node: null,
        kind: 'rack.remove',
        title: `Remove ${path} with ${rack.nodes.length} ${rack.nodes.length === 1 ? 'node' : 'nodes'}`,
        input: {path},
        needs: [],
      }
  return {command: 'rack remove', steps: [step]}
}

/**
 * Takes nodes out of a rack file. Returns the rack that is left. Throws NOT_FOUND, and CONFLICT where the head's node,
 * or the last one, has become one of them.
 */
export async function takeOut({path, nodes, force}: {path: string; nodes: string[]; force: boolean}): Promise<Rack> {
  return editRack(path, (now) => {
    const rest = withoutNodes(now, nodes, force)
    if (!rest)
      throw new CliError('CONFLICT', `${path} has no other nodes any more`, {hint: `flexrack rack remove ${now.name}`})
    return rest
  })
}

export async function removeRack({path}: {path: string}): Promise<void> {
  await rm(path, {force: true})
}

/**
 * What is left of a rack without some nodes; undefined if nothing is. Throws NOT_FOUND, and CONFLICT for the head's
 * node unless forced.
 */
function withoutNodes(rack: Rack, names: string[], force: boolean): Rack | undefined {
  const unknown = names.filter((name) => !rack.nodes.some((node) => node.name === name))
  if (unknown.length > 0)
    throw new CliError('NOT_FOUND', `the rack ${rack.name} has no node ${unknown.join(', ')}`, {
      hint: `flexrack rack show ${rack.name}`,
      details: {nodes: rack.nodes.map((node) => node.name)},
    })
  const nodes = rack.nodes.filter((node) => !names.includes(node.name))
  const [first] = nodes
  if (!first) return undefined
  const {standby: known, ...head} = rack.head
  const standby = known === undefined || names.includes(known) ? undefined : known
  if (!names.includes(head.node)) return {...rack, nodes, head: {...head, ...(standby !== undefined && {standby})}}
  if (!force)
    throw new CliError(
      'CONFLICT',
      `${rack.head.node} is the node of the head: the head would move to ${standby ?? first.name} and start ${standby === undefined ? 'empty, ' : ''}without its tracking data`,
      {hint: `flexrack rack remove ${rack.name} ${names.join(' ')} --force`},
    )
  // A standby knows the endpoints already.
  return {...rack, nodes, head: {...head, node: standby ?? first.name}}
}
