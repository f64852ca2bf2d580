import {setTimeout as sleep} from 'node:timers/promises'
import {CliError, isCliError, throwIfInterrupted, type Progress} from '../base/index.ts'
import type {ServiceStatus} from '../host/index.ts'
import {requestJson} from '../tracking/index.ts'
import {smokeRequest, type ModelMetadata} from './tensor.ts'

export interface Waiting {
  /** Base URL of the server as it is reached from here. */
  base: string
  model: string
  readyPath: string
  seconds: number
  /** Asked about once a second: a server that ended is not waited for. */
  status(): Promise<ServiceStatus>
  progress: Progress
  signal: AbortSignal
}

const LOOK_MS = 100
const STATUS_MS = 1000

/**
 * Waits until the server says that the model is ready, then sends it one request made from its own metadata.
 * ENDPOINT_FAILED where it ended, where it cannot answer that request; TIMED_OUT where it took too long.
 */
export async function waitReady(waiting: Waiting): Promise<ModelMetadata> {
  const begin = Date.now()
  let nextStatus = begin + STATUS_MS
  for (;;) {
    throwIfInterrupted(waiting.signal)
    if (await isReady(waiting)) break
    const now = Date.now()
    if (now >= nextStatus) {
      checkAlive(await waiting.status())
      nextStatus = Date.now() + STATUS_MS
    }
    if (now - begin > waiting.seconds * 1000) {
      throw new CliError('TIMED_OUT', `the model was not ready within ${waiting.seconds} s`, {hint: 'a larger model may need --timeout SECONDS'})
    }
    waiting.progress.amount(Math.round((now - begin) / 1000), waiting.seconds, 'seconds')
    await sleep(LOOK_MS)
  }
  checkAlive(await waiting.status()) // the port might be somebody else's
  waiting.progress.detail('one request for a try')
  return tryOnce(waiting)
}

async function isReady({base, readyPath, signal}: Waiting): Promise<boolean> {
  try {
    await requestJson({method: 'GET', url: `${base}${readyPath}`, timeout: 5000, retries: 0, signal})
    return true
  } catch (error) {
    if (isCliError(error, 'INTERRUPTED')) throw error
    return false
  }
}

function checkAlive(status: ServiceStatus): void {
  if ((status.state === 'running' || status.state === 'starting') && status.restarts === 0) return
  throw new CliError('ENDPOINT_FAILED', `the model server ended before it was ready (${status.exit?.text ?? status.state})`, {details: {exit: status.exit}})
}

async function tryOnce({base, model, signal}: Waiting): Promise<ModelMetadata> {
  const peer = 'the model server'
  const metadata = await requestJson<ModelMetadata>({method: 'GET', url: `${base}/v2/models/${model}`, peer, signal})
  const {request, certain} = smokeRequest(metadata)
  try {
    await requestJson({method: 'POST', url: `${base}/v2/models/${model}/infer`, json: request, peer, timeout: 120_000, signal})
  } catch (error) {
    if (isCliError(error, 'INTERRUPTED')) throw error
    // Zeros of size one may not be a sensible input where several dimensions vary; a refusal then proves nothing.
    const refused = isCliError(error) && error.details.status === 400
    if (certain || !refused) throw new CliError('ENDPOINT_FAILED', `the model is loaded but cannot answer: ${(error as Error).message}`, {cause: error})
  }
  return metadata
}
