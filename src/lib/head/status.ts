import {isCliError, type Context} from '../base/index.ts'
import {serviceStatus} from '../host/index.ts'
import {executePlan, throwIfFailed} from '../plan/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {connectHead} from './connect.ts'
import {planHead, type StopOptions} from './plan.ts'
import {openHeadHost, SERVICE_ID} from './places.ts'
import {standbyStatus} from './standby.ts'
import {lastLines} from './start.ts'
import {HEAD_HANDLERS, headEnv} from './steps.ts'
import type {HeadStatus, ServerStatus} from './types.ts'

/**
 * What the head does now, and its standby. A head that does not run, or does not answer, is an answer; only an
 * unreachable node throws, and that, too, is an answer where there is a standby.
 */
export async function headStatus(rack: Rack, fleet: Fleet, context: Context): Promise<HeadStatus> {
  if (rack.head.standby === undefined) return firstStatus(rack, fleet, context)
  const [first, standby] = await Promise.all([
    firstStatus(rack, fleet, context).catch((error: unknown): HeadStatus => {
      if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
      return {rack: rack.name, node: rack.head.node, state: 'unreachable', url: null, lines: [error.message]}
    }),
    standbyStatus(rack, fleet, context),
  ])
  return {...first, standby}
}

async function firstStatus(rack: Rack, fleet: Fleet, context: Context): Promise<HeadStatus> {
  const host = await openHeadHost(rack, fleet, context)
  const service = await serviceStatus(host, SERVICE_ID)
  const known = {rack: rack.name, node: host.node, url: null}
  if (['absent', 'stopped', 'lost'].includes(service.state)) return {...known, state: 'stopped'}
  if (service.state === 'failed') return {...known, state: 'failed', lines: await lastLines(host)}
  try {
    const connection = await connectHead(rack, fleet, context)
    try {
      const status = await connection.request<ServerStatus>('GET', '/flexrack/v1/status')
      const certificates = await connection.certificates()
      return {
        ...status,
        ...(certificates && {certificates}),
        rack: rack.name,
        node: host.node,
        state: status.superseded ? 'superseded' : status.mlflow.state === 'ready' ? 'running' : 'starting',
      }
    } finally {
      await connection.close()
    }
  } catch (error) {
    if (!isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
    const isNew = service.startedAt !== null && Date.now() / 1000 - service.startedAt < 10
    return {...known, state: isNew ? 'starting' : 'unreachable', lines: await lastLines(host)}
  }
}

/**
 * Ends the head: answers under way first, then MLflow, with proof that no process is left. Its data stay. Not running:
 * nothing to do.
 */
export async function stopHead(
  rack: Rack,
  fleet: Fleet,
  context: Context,
  options: StopOptions = {},
): Promise<HeadStatus> {
  const plan = await planHead(rack, fleet, context, 'stop', options)
  const host = await openHeadHost(rack, fleet, context)
  const progress = context.reporter.begin('End the head', host.node)
  try {
    throwIfFailed(await executePlan(plan, HEAD_HANDLERS, headEnv(rack, fleet, context), context))
  } catch (error) {
    progress.fail()
    throw error
  }
  progress.done('The head has ended')
  return {rack: rack.name, node: host.node, state: 'stopped', url: null}
}
