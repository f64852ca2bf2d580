import {Secret, type Context} from '../base/index.ts'
import {connectHead} from '../head/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {openMlflow, type Mlflow} from '../tracking/index.ts'

export interface Registry {
  mlflow: Mlflow
  close(): Promise<void>
}

/** The tracking server of the project: the manifest's `tracking.uri`, else the rack's head. */
export async function openRegistry(place: {rack: Rack; fleet: Fleet; manifest?: Manifest | undefined}, context: Context): Promise<Registry> {
  const uri = place.manifest?.tracking.uri
  if (uri !== undefined) {
    const {MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password} = context.env
    const access = token ? {token: new Secret(token)} : user && password ? {basic: new Secret(`${user}:${password}`)} : {}
    return {mlflow: openMlflow({uri, ...access, signal: context.signal}), close: async () => {}}
  }
  const head = await connectHead(place.rack, place.fleet, context)
  return {mlflow: openMlflow({uri: head.uri, token: head.token, signal: context.signal}), close: () => head.close()}
}
