import {openApi, type MlflowAddress} from './api.ts'
import {artifactCalls, type ArtifactCalls} from './artifact-calls.ts'
import {requestStream} from './http.ts'
import {registryCalls, type RegistryCalls} from './registry-calls.ts'
import {runCalls, type RunCalls} from './run-calls.ts'

/** A tracking server that speaks MLflow's REST API. */
export interface Mlflow extends RunCalls, ArtifactCalls, RegistryCalls {
  readonly uri: string
  /** The server's version, e.g. `3.17.2`; also tells whether it is there and whether it lets us in. */
  version(): Promise<string>
}

/** A client of MLflow's REST API; makes no connection yet. */
export function openMlflow(address: MlflowAddress): Mlflow {
  const api = openApi(address)
  return {
    uri: api.base,
    async version() {
      const {body} = await requestStream({...api.request('GET', '//version'), timeout: 10_000, retries: 0})
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString('utf8').trim()
    },
    ...runCalls(api),
    ...artifactCalls(api),
    ...registryCalls(api),
  }
}
