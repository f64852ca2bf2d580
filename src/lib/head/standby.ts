import {setTimeout as pause} from 'node:timers/promises'
import {isCliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {openHost, serviceStatus, stopService} from '../host/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {connectHead} from './connect.ts'
import {endFollowers} from './enrol.ts'
import {openHeadHost, SERVICE_ID} from './places.ts'
import {headBeside} from './superseded.ts'
import type {HeadStatus, ServerStatus, StandbyStatus} from './types.ts'

const READY_MS = 60_000
const LOOK_MS = 300
const GRACE_SECONDS = 20

/** What a standby does now. That it cannot be reached is an answer. */
export async function standbyStatus(rack: Rack, fleet: Fleet, context: Context): Promise<StandbyStatus> {
  const node = rack.head.standby ?? ''
  const known = {node, url: null}
  try {
    const host = await openHeadHost(rack, fleet, context, 'standby')
    const {state} = await serviceStatus(host, SERVICE_ID)
    if (['absent', 'stopped', 'lost'].includes(state)) return {...known, state: 'stopped'}
    if (state === 'failed') return {...known, state: 'failed'}
    const other = await headBeside(rack, fleet, context)
    if (other?.superseded) return {node, url: other.url, state: 'superseded', superseded: other.superseded}
    const connection = await connectHead(rack, fleet, context, 'standby')
    try {
      const {url, following} = await connection.request<ServerStatus>('GET', '/flexrack/v1/status')
      return {node, url, state: 'running', ...(following && {following})}
    } finally {
      await connection.close()
    }
  } catch (error) {
    if (!isCliError(error) || ['INTERRUPTED', 'BUG'].includes(error.code)) throw error
    return {...known, state: 'unreachable', lines: [error.message]}
  }
}

/** Waits until a standby that was started follows. Where it does not, that is told: the head itself runs. */
export async function awaitStandby(rack: Rack, fleet: Fleet, context: Context): Promise<StandbyStatus> {
  const progress = context.reporter.begin('Wait until the standby follows', rack.head.standby)
  for (const until = Date.now() + READY_MS; ;) {
    throwIfInterrupted(context.signal)
    const status = await standbyStatus(rack, fleet, context)
    if (status.following?.state === 'following') {
      progress.done(`The standby runs on ${status.node}`)
      return status
    }
    if (Date.now() > until || status.state === 'failed') {
      progress.fail()
      const why = status.following?.lastError ?? status.lines?.at(-1) ?? status.state
      context.reporter.warn(`the standby on ${status.node} does not follow the head: ${why}`)
      return status
    }
    await pause(LOOK_MS)
  }
}

/** The rack file names no standby any more: one that followed has nothing to follow, and ends. */
export async function endFormer(rack: Rack, fleet: Fleet, status: HeadStatus, context: Context): Promise<void> {
  const former = status.followers ?? []
  if (former.length === 0) return
  const connection = await connectHead(rack, fleet, context)
  try {
    await endFollowers(connection, former)
  } finally {
    await connection.close()
  }
  for (const name of new Set(former.map((one) => one.node))) {
    const node = rack.nodes.find((one) => one.name === name && name !== rack.head.node)
    if (!node) continue
    try {
      await stopService(await openHost(fleet, node, context), SERVICE_ID, GRACE_SECONDS)
      context.reporter.note(`The standby on ${name} has ended: the rack file names none.`)
    } catch (error) {
      context.reporter.warn(`the former standby on ${name} could not be ended: ${(error as Error).message}`)
    }
  }
}
