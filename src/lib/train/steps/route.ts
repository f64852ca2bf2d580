import {count} from '../../base/index.ts'
import type {RackNode} from '../../rack/index.ts'
import {findAddresses} from '../addresses.ts'
import type {GangAddresses} from '../types.ts'
import type {RouteInput, TrainEnv, TrainStep} from './types.ts'

/** None where a node is alone. Pure. */
export function routeSteps(nodes: RackNode[]): TrainStep[] {
  if (nodes.length < 2) return []
  const input: RouteInput = {nodes: nodes.map(({name, address}) => ({name, ...(address !== undefined && {address})}))}
  return [
    {
      id: 'route',
      node: null,
      kind: 'train.route',
      title: `Find the addresses at which the ${count(nodes.length, 'node')} reach each other`,
      input,
      needs: [],
    },
  ]
}

export async function route({nodes}: RouteInput, _done: unknown, {host, context}: TrainEnv): Promise<GangAddresses> {
  return findAddresses(nodes, await Promise.all(nodes.map(({name}) => host(name))), context)
}
