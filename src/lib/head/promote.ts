import {CliError, isCliError, type Context} from '../base/index.ts'
import type {StepOf} from '../plan/index.ts'
import {editRack, type Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {connectHead} from './connect.ts'
import {headNode} from './places.ts'
import type {HeadKinds} from './steps.ts'
import type {ServerStatus} from './types.ts'

export type SwapInput = {
  path: string
  head: string
  standby: string
}

/**
 * The standby becomes the head in the rack file, for when the head's node is lost. Errors: NOT_FOUND without a standby;
 * CONFLICT where the head answers, as there would be two.
 */
export async function planSwap(rack: Rack, fleet: Fleet, context: Context): Promise<StepOf<HeadKinds>> {
  const {name} = headNode(rack, 'standby')
  await requireAway(rack, fleet, context)
  return {
    id: 'swap',
    node: null,
    kind: 'head.swap',
    title: `Make ${name} the head in ${rack.path}, and ${rack.head.node} its standby`,
    input: {path: rack.path, head: name, standby: rack.head.node},
    needs: [],
  }
}

export async function swap({path, head, standby}: SwapInput): Promise<void> {
  await editRack(path, (rack) => {
    if (rack.head.node !== standby || rack.head.standby !== head)
      throw new CliError('CONFLICT', `${path} was changed meanwhile`, {hint: `flexrack rack show ${rack.name}`})
    return swapped(rack)
  })
}

/** The rack as it is then. Pure. */
export function swapped(rack: Rack): Rack {
  const {node, standby = node} = rack.head
  // An address that was given for the old node is none of the new one.
  const {bind, ...head} = rack.head
  const isShared = bind !== undefined && ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(bind)
  return {...rack, head: {...head, ...(isShared && {bind}), node: standby, standby: node}}
}

/** What is gone with a node that is lost. */
export function warnOfLoss({head}: Rack, {reporter}: Context): void {
  if (head.store !== undefined) return
  reporter.warn(
    `runs, models and artifacts were kept on ${head.node} only: tracking starts empty on ${head.standby}. ` +
      'Endpoints, their keys and releases were taken over.',
  )
}

async function requireAway(rack: Rack, fleet: Fleet, context: Context): Promise<void> {
  try {
    const head = await connectHead(rack, fleet, context)
    try {
      const {superseded} = await head.request<ServerStatus>('GET', '/flexrack/v1/status')
      if (superseded?.node === rack.head.standby) return // the rack file is behind
    } finally {
      await head.close()
    }
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT', 'HEAD_FAILED')) return
    throw error
  }
  throw new CliError('CONFLICT', `the head on ${rack.head.node} answers, so there would be two`, {
    hint: `flexrack head stop --first --rack ${rack.name}`,
  })
}
