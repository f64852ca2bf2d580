import {CliError} from '../base/index.ts'
import type {ServingProtocol} from '../protocol/index.ts'
import {requestJson} from '../tracking/index.ts'
import {activeRelease, type Release} from './document.ts'
import {plainRequest} from './plain-request.ts'
import type {Site} from './site.ts'
import {requireEndpoint} from './store.ts'
import {buildRequest} from './tensor-request.ts'
import type {ModelMetadata} from './tensor.ts'

/**
 * What is sent: the bytes of a file or of stdin, with the name by which the kind is told (`.npy`, anything else is
 * JSON).
 */
export interface InvokeInput {
  name: string
  file: string
  bytes: Buffer
  /** Seconds until the answer is of no use any more; else as long as the endpoint lets requests wait. */
  timeout?: number
}

/** A request as it goes over the wire, to be sent once or many times. */
export interface Call {
  release: Release
  protocol: ServingProtocol
  /** Below the endpoint's address, with a slash first. */
  path: string
  type: string
  body: Buffer
}

/**
 * What is to be sent to an endpoint, in the protocol of what it serves now. Errors: ENDPOINT_FAILED where it serves
 * nothing; USAGE where the input does not fit; those of requestJson for the model's metadata.
 */
export async function callFor(site: Site, input: InvokeInput): Promise<Call> {
  const {document} = await requireEndpoint(site.head, input.name)
  const release = activeRelease(document)
  if (!release) {
    throw new CliError('ENDPOINT_FAILED', `endpoint ${input.name} serves nothing`, {
      hint: `flexrack endpoint deploy ${input.name}`,
    })
  }
  const {protocol = 'v2'} = release
  if (protocol !== 'v2') return {release, protocol, ...plainRequest(protocol, input)}
  const path = `/v2/models/${encodeURIComponent(input.name)}`
  const metadata = await requestJson<ModelMetadata>({
    peer: `endpoint ${input.name}`,
    token: site.head.token,
    signal: site.context.signal,
    method: 'GET',
    url: `${site.head.uri}/endpoints/${encodeURIComponent(input.name)}${path}`,
  })
  const body = Buffer.from(JSON.stringify(buildRequest(input, metadata)))
  return {release, protocol, path: `${path}/infer`, type: 'application/json', body}
}
