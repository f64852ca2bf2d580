import {CliError, isCliError} from '../base/index.ts'
import {DEADLINE_HEADER} from '../head/index.ts'
import type {ServingProtocol} from '../protocol/index.ts'
import {requestJson} from '../tracking/index.ts'
import {callFor, type InvokeInput} from './call.ts'
import type {Site} from './site.ts'
import type {InferResponse} from './tensor.ts'

/** The head's own answer to a request that took too long is to come before ours. */
const MARGIN_MS = 30_000
/** The head ends what takes too long by the endpoint's rules, which allow days. */
const NO_DEADLINE_MS = 2 ** 31 - 1

export interface TensorAnswer extends InferResponse {
  /** Milliseconds from sending the request to having the whole answer. */
  milliseconds: number
}

/** What a server of another protocol answered, as it said it. */
export interface PlainAnswer {
  protocol: Exclude<ServingProtocol, 'v2'>
  answer: unknown
  milliseconds: number
}

export type Answer = TensorAnswer | PlainAnswer

/**
 * One request through the gateway, in the endpoint's protocol. To OpenAI's API and to MLflow's
 * server goes what plainRequest makes of it; else: an Open Inference request as it is, nested
 * lists, an object of lists by input name, or a .npy array. USAGE where it does not fit the model's
 * own metadata; ENDPOINT_FAILED where the endpoint cannot answer.
 */
export async function invokeEndpoint(site: Site, input: InvokeInput): Promise<Answer> {
  const common = {peer: `endpoint ${input.name}`, token: site.head.token, signal: site.context.signal}
  try {
    const {protocol, path, type, body} = await callFor(site, input)
    const deadline = input.timeout === undefined ? undefined : input.timeout * 1000
    const url = `${site.head.uri}/endpoints/${encodeURIComponent(input.name)}${path}`
    const begun = performance.now()
    const answer = await requestJson<unknown>({
      ...common,
      method: 'POST',
      url,
      headers: {'content-type': type, ...(deadline !== undefined && {[DEADLINE_HEADER]: String(deadline)})},
      body,
      timeout: deadline === undefined ? NO_DEADLINE_MS : deadline + MARGIN_MS,
    })
    const milliseconds = since(begun)
    if (protocol === 'v2') return {...(answer as InferResponse), milliseconds}
    return {protocol, answer, milliseconds}
  } catch (error) {
    if (isCliError(error, 'HEAD_FAILED')) {
      throw new CliError('ENDPOINT_FAILED', error.message, {
        hint: error.details.status === 400 ? undefined : `flexrack endpoint logs ${input.name}`,
        details: error.details,
        cause: error,
      })
    }
    throw error
  }
}

function since(begin: number): number {
  return Math.round((performance.now() - begin) * 10) / 10
}
