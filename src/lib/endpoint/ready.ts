import {setTimeout as sleep} from 'node:timers/promises'
import {CliError, isCliError, throwIfInterrupted, type Progress} from '../base/index.ts'
import type {ServiceStatus} from '../host/index.ts'
import type {ServingProtocol} from '../protocol/index.ts'
import {requestJson, requestStream} from '../tracking/index.ts'
import {smokeRequest, type ModelMetadata} from './tensor.ts'

export interface Waiting {
  /** Base URL of the server as it is reached from here. */
  base: string
  model: string
  readyPath: string
  protocol: ServingProtocol
  /** A request that the model should answer, as JSON, where it brought one. */
  example?: string | undefined
  seconds: number
  /** Asked about once a second: a server that ended is not waited for. */
  status(): Promise<ServiceStatus>
  progress: Progress
  signal: AbortSignal
}

const LOOK_MS = 100
const STATUS_MS = 1000

/**
 * Waits until the server says that the model is ready, then sends it one request: made from its own
 * metadata, or what it brought as an example.
 * ENDPOINT_FAILED where it ended, where it cannot answer that request; TIMED_OUT where it took too long.
 */
export async function waitReady(waiting: Waiting): Promise<void> {
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
      throw new CliError('TIMED_OUT', `the model was not ready within ${waiting.seconds} s`, {
        hint: 'a larger model may need --timeout SECONDS',
      })
    }
    waiting.progress.amount(Math.round((now - begin) / 1000), waiting.seconds, 'seconds')
    await sleep(LOOK_MS)
  }
  checkAlive(await waiting.status()) // the port might be somebody else's
  waiting.progress.detail('one request for a try')
  await TRIES[waiting.protocol](waiting)
}

async function isReady({base, readyPath, signal}: Waiting): Promise<boolean> {
  try {
    const {body} = await requestStream({method: 'GET', url: `${base}${readyPath}`, timeout: 5000, retries: 0, signal})
    body.resume()
    return true
  } catch (error) {
    if (isCliError(error, 'INTERRUPTED')) throw error
    return false
  }
}

function checkAlive(status: ServiceStatus): void {
  if ((status.state === 'running' || status.state === 'starting') && status.restarts === 0) return
  const how = status.exit?.text ?? status.state
  throw new CliError('ENDPOINT_FAILED', `the model server ended before it was ready (${how})`, {
    details: {exit: status.exit},
  })
}

const PEER = 'the model server'
const TRY_MS = 120_000

/** One request for a try, in the protocol of the server. ENDPOINT_FAILED where it cannot answer. */
const TRIES: Record<ServingProtocol, (waiting: Waiting) => Promise<void>> = {
  v2: tryTensors,
  openai: tryCompletion,
  mlflow: tryExample,
}

async function tryTensors({base, model, signal}: Waiting): Promise<void> {
  const metadata = await requestJson<ModelMetadata>({
    method: 'GET',
    url: `${base}/v2/models/${model}`,
    peer: PEER,
    signal,
  })
  // A server that does not say what its model takes can only be believed that it is ready.
  if ((metadata.inputs ?? []).length === 0) return
  const {request, certain} = smokeRequest(metadata)
  // Zeros of size one may not be a sensible input where several dimensions vary; a refusal then proves nothing.
  await answered(
    () =>
      requestJson({
        method: 'POST',
        url: `${base}/v2/models/${model}/infer`,
        json: request,
        peer: PEER,
        timeout: TRY_MS,
        signal,
      }),
    certain ? [] : [400],
  )
}

/** One token. Models that only embed or chat refuse it, which proves nothing. */
async function tryCompletion({base, model, signal}: Waiting): Promise<void> {
  await answered(() => requestJson({method: 'GET', url: `${base}/v1/models`, peer: PEER, signal}), [])
  await answered(
    () =>
      requestJson({
        method: 'POST',
        url: `${base}/v1/completions`,
        json: {model, prompt: '1', max_tokens: 1},
        peer: PEER,
        timeout: TRY_MS,
        signal,
      }),
    [400, 404, 405, 422, 501],
  )
}

/** What was logged with the model as an example of its input; without one, only that it was loaded is known. */
async function tryExample({base, example, signal}: Waiting): Promise<void> {
  if (example !== undefined) {
    await answered(
      () =>
        requestJson({
          method: 'POST',
          url: `${base}/invocations`,
          json: JSON.parse(example) as unknown,
          peer: PEER,
          timeout: TRY_MS,
          signal,
        }),
      [],
    )
  }
}

async function answered(ask: () => Promise<unknown>, provesNothing: number[]): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (isCliError(error, 'INTERRUPTED')) throw error
    if (isCliError(error) && provesNothing.includes(Number(error.details.status))) return
    throw new CliError('ENDPOINT_FAILED', `the model is loaded but cannot answer: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
