import type {Context} from '../base/index.ts'
import {openTracking} from '../head/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {openMlflow} from '../tracking/index.ts'
import {openHeads} from './heads.ts'
import type {Site} from './site.ts'

/** Whose endpoints are meant. */
export interface EndpointPlace {
  rack: Rack
  fleet: Fleet
  manifest?: Manifest | undefined
}

/**
 * Connects to the rack's head (errors: those of connectHead) and to the tracking server of the project. `looks`: nothing
 * is to be changed, so a standby will do where the head does not answer.
 */
export async function openSite(
  place: EndpointPlace,
  context: Context,
  looks: boolean,
): Promise<{site: Site; close(): Promise<void>}> {
  // Ctrl-C must not cut the requests with which a change is taken back; the second one does.
  const own = {...context, signal: context.kill}
  const heads = await openHeads(place.rack, place.fleet, own, looks)
  const {head} = heads
  const elsewhere = place.manifest?.tracking.uri === undefined ? undefined : await openTracking(place, context)
  const mlflow =
    elsewhere?.mlflow ??
    openMlflow({uri: head.uri, token: head.token, project: place.manifest?.name, signal: context.signal})
  return {
    site: {...heads, rack: place.rack, fleet: place.fleet, manifest: place.manifest, mlflow, context},
    close: async () => {
      await elsewhere?.close()
      await head.close()
    },
  }
}
