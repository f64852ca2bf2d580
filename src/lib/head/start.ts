import {setTimeout as pause} from 'node:timers/promises'
import {CliError, isCliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {followServiceLog, serviceStatus, stopService, type Host} from '../host/index.ts'
import {executePlan, throwIfFailed} from '../plan/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {connectHead} from './connect.ts'
import {reachWarning} from './address.ts'
import {GRACE_SECONDS, planHead} from './plan.ts'
import {headNode, openHeadHost, SERVICE_ID} from './places.ts'
import {swapped, warnOfLoss} from './promote.ts'
import {awaitStandby, endFormer} from './standby.ts'
import {HEAD_HANDLERS, headEnv} from './steps.ts'
import {requireHead, resume} from './superseded.ts'
import type {HeadStatus, ServerStatus} from './types.ts'

const READY_MS = 240_000
const LOOK_MS = 300
const SERVICE_LOOK_MS = 10_000
const HOPELESS_RESTARTS = 3

/**
 * Makes sure the head runs on its node as this version and rack file want it, and waits until tracking is ready.
 * `promote`: the standby in the place of the head, first. Run again it changes nothing; two at once end with one head.
 * Errors: those of planHead, ENVIRONMENT_FAILED, HEAD_FAILED with its last lines.
 */
export async function startHead(
  rack: Rack,
  fleet: Fleet,
  context: Context,
  {promote = false}: {promote?: boolean} = {},
): Promise<HeadStatus> {
  if (promote) {
    const plan = await planHead(rack, fleet, context, 'promote')
    const then = swapped(rack)
    throwIfFailed(await executePlan(plan, HEAD_HANDLERS, headEnv(then, fleet, context), context))
    warnOfLoss(rack, context)
    await resume(then, fleet, context)
    return startHead(then, fleet, context)
  }
  const plan = await planHead(rack, fleet, context, 'start')
  const found = plan.steps.find((step) => step.kind === 'head.start')?.input.config.bind
  const warning = reachWarning(rack, headNode(rack), String(found))
  if (warning) context.reporter.warn(warning)
  const host = await openHeadHost(rack, fleet, context)
  const outcomes = await executePlan(plan, HEAD_HANDLERS, headEnv(rack, fleet, context), context)
  // The rack file is behind: that says more than which of its nodes failed.
  const behind = outcomes.find(({step, error}) => step.kind === 'head.enrol' && isCliError(error, 'CONFLICT'))
  if (behind?.error) throw behind.error
  throwIfFailed(outcomes)
  const status = await waitUntilReady(rack, fleet, host, context)
  if (rack.head.standby !== undefined) return {...status, standby: await awaitStandby(rack, fleet, context)}
  await endFormer(rack, fleet, status, context)
  return status
}

async function waitUntilReady(rack: Rack, fleet: Fleet, host: Host, context: Context): Promise<HeadStatus> {
  const progress = context.reporter.begin('Wait until tracking is ready', host.node)
  const until = Date.now() + READY_MS
  try {
    for (;;) {
      throwIfInterrupted(context.signal)
      const pid = await runningPid(host)
      const status = await readyStatus(rack, fleet, host, context, pid)
      if (status) {
        progress.done(`The head runs on ${host.node}`)
        return status
      }
      if (Date.now() > until)
        throw new CliError('TIMED_OUT', `the head on ${host.node} did not become ready in ${READY_MS / 1000} s`, {
          hint: 'flexrack head status',
          details: {node: host.node, lines: await lastLines(host)},
        })
      await pause(LOOK_MS)
    }
  } catch (error) {
    progress.fail()
    throw error
  }
}

/** Null while it is not running yet. HEAD_FAILED where it will not. */
async function runningPid(host: Host): Promise<number | null> {
  const {state, restarts, exit, pid} = await serviceStatus(host, SERVICE_ID)
  if (state === 'failed' || (state === 'waiting' && restarts >= HOPELESS_RESTARTS))
    throw await failure(host, `ends again and again (${exit?.text ?? 'unknown'})`)
  return pid
}

/**
 * The status once MLflow is ready; undefined while that may still come and the service is to be looked at again. The
 * head itself is asked often, for that costs little; the service seldom, as each look starts programs on the node.
 */
async function readyStatus(
  rack: Rack,
  fleet: Fleet,
  host: Host,
  context: Context,
  pid: number | null,
): Promise<HeadStatus | undefined> {
  const until = Date.now() + SERVICE_LOOK_MS
  try {
    const connection = await connectHead(rack, fleet, context)
    try {
      for (;;) {
        const status = await connection.request<ServerStatus>('GET', '/flexrack/v1/status')
        if (status.pid !== pid) return undefined // the one that is being replaced
        requireHead(rack, status)
        if (status.mlflow.state === 'waiting' && status.mlflow.restarts >= 2)
          throw await failure(host, `cannot start MLflow: ${status.mlflow.lastError ?? ''}`)
        if (status.mlflow.state === 'ready') {
          const certificates = await connection.certificates()
          return {...status, ...(certificates && {certificates}), rack: rack.name, node: host.node, state: 'running'}
        }
        if (Date.now() > until) return undefined
        await pause(LOOK_MS)
        throwIfInterrupted(context.signal)
      }
    } finally {
      await connection.close()
    }
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT')) return undefined // it does not listen yet
    throw error
  }
}

/** Ends it and tells why. */
async function failure(host: Host, what: string): Promise<CliError> {
  const lines = await lastLines(host)
  await stopService(host, SERVICE_ID, GRACE_SECONDS).catch(() => {}) // it would go on failing; the message says why
  return new CliError('HEAD_FAILED', `the head on ${host.node} ${what}`, {
    hint: 'flexrack head status',
    details: {node: host.node, lines},
  })
}

/** The newest lines of the head's log. */
export async function lastLines(host: Host, bytes = 4000): Promise<string[]> {
  let text = ''
  await followServiceLog(host, SERVICE_ID, {tail: bytes, onData: (chunk) => (text += chunk.toString('utf8'))}).catch(
    () => 0,
  )
  return text.trim().split('\n').slice(-20)
}
