import {fileURLToPath} from 'node:url'
import type {Endpoints} from '../../src/lib/endpoint/index.ts'
import {answerOf, startScript} from './head.ts'

/** What test/fixtures/inference/any_tensors.py answers; outputs by name. */
export interface Called {
  live: boolean[]
  ready: boolean[]
  /** gRPC names the same inputs as HTTP. */
  same: boolean
  inputs: [name: string, datatype: string, shape: number[]][]
  binary: Record<string, unknown>
  json: Record<string, unknown>
  grpc: Record<string, unknown>
  streamed: Record<string, unknown>
  refused: [status: string, message: string]
}

/** Where an endpoint is called. `uri`: of the head, where it listens without TLS; `caFile`: certificates to trust. */
export interface Place {
  endpoints: Endpoints
  uri: string
  caFile: string
}

/** tritonclient of `python` calls an endpoint over HTTP and gRPC, with inputs by name. */
export function callTriton(
  python: string,
  place: Place,
  name: string,
  inputs: Record<string, unknown>,
  parameters = {},
): Promise<Called> {
  return call(python, 'any_tensors', place, name, {inputs, parameters})
}

/** KServe's clients of `python` do. `inputs`: name -> datatype and values. */
export function callKServe(
  python: string,
  place: Place,
  name: string,
  inputs: Record<string, [datatype: string, values: unknown[]]>,
): Promise<Record<'rest' | 'grpc', Record<string, unknown[]>>> {
  return call(python, 'any_kserve', place, name, inputs)
}

async function call<T>(python: string, script: string, place: Place, name: string, asked: object): Promise<T> {
  const {url} = await place.endpoints.show(name)
  const env = {
    URL: script === 'any_kserve' ? url : `${new URL(place.uri).host}/endpoints/${name}`,
    GRPC: new URL(url).host,
    CERTIFICATES: place.caFile,
    MODEL: name,
    TOKEN: (await place.endpoints.token(name)).reveal(),
  }
  const path = fileURLToPath(new URL(`../fixtures/inference/${script}.py`, import.meta.url))
  const child = startScript(python, path, [], env)
  child.stdin.end(JSON.stringify(asked))
  return answerOf<T>(child)
}
