import {isCliError, type Context} from '../base/index.ts'
import {connectHead, type HeadConnection, type ServerStatus} from '../head/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Site} from './site.ts'

type Heads = Pick<Site, 'head' | 'standbyUri' | 'isStandby'>

/**
 * The rack's head, and where its standby answers. `looks`: where the head does not answer, the standby in its place,
 * which is told. Errors: those of connectHead.
 */
export async function openHeads(rack: Rack, fleet: Fleet, context: Context, looks: boolean): Promise<Heads> {
  const {node, standby} = rack.head
  if (standby === undefined) return {head: await connectHead(rack, fleet, context)}
  try {
    const head = await connectHead(rack, fleet, context)
    const status = await statusOf(head)
    const follower = status.followers?.find((one) => one.node === standby)
    return {head, ...(follower?.url && {standbyUri: follower.url})}
  } catch (error) {
    if (!looks || !isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT', 'HEAD_FAILED')) throw error
    const head = await connectHead(rack, fleet, context, 'standby').catch(() => {
      throw error // of the two it says more
    })
    context.reporter.warn(`the head on ${node} does not answer: its standby on ${standby} is asked`)
    return {head, standbyUri: head.nodeUri, isStandby: true}
  }
}

/** One that does not answer is no way to anything. */
async function statusOf(head: HeadConnection): Promise<ServerStatus> {
  try {
    return await head.request<ServerStatus>('GET', '/flexrack/v1/status')
  } catch (error) {
    await head.close()
    throw error
  }
}
