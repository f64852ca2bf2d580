import {CliError, isCliError} from '../base/index.ts'
import {runningReleases} from './document.ts'
import {gpuUse, type ServerGpu} from './gpu-use.ts'
import {loadBetween, type TrafficLoad, type TrafficLook} from './load-figures.ts'
import {requested, summary, type EndpointSummary} from './show.ts'
import type {Site} from './site.ts'
import {listRecords} from './store.ts'

export interface ServerLoad {
  server: string
  node: string
  release: string
  inFlight: number
  /** Answered, a second. */
  requests: number
  /** That it has leased; empty where it leases none, or does not run. */
  gpus: ServerGpu[]
}

export interface EndpointLoad extends Omit<TrafficLoad, 'servers'> {
  /** As `endpoint list` has it: what a request would meet. */
  state: EndpointSummary['state']
  model: string | undefined
  servers: ServerLoad[]
}

/** What endpoints do, over the time since the look before. */
export interface LoadReport {
  rack: string
  /** How long that was; at the first look, since the head was started. */
  seconds: number
  endpoints: EndpointLoad[]
  /** Nodes whose GPUs could not be asked for. */
  unknown: {node: string; message: string}[]
}

async function trafficOf({head}: Site): Promise<TrafficLook> {
  return head.request<TrafficLook>('GET', '/flexrack/v1/traffic').catch((error: unknown) => {
    if (!isCliError(error, 'NOT_FOUND')) throw error
    throw new CliError('HEAD_FAILED', 'the head is older than endpoint top', {hint: 'flexrack head start'})
  })
}

/** Gives looks one after the other, each over the time since the one before. `names`: only these endpoints. */
export function openLoad(site: Site, names: readonly string[]): () => Promise<LoadReport> {
  let before: TrafficLook | undefined
  return async () => {
    const [now, all] = await Promise.all([trafficOf(site), listRecords(site.head)])
    const records = all.filter(({document}) => names.length === 0 || names.includes(document.name))
    const running = records.map(({document}) => runningReleases(document))
    const gpus = await gpuUse(site, running.flat())
    const seen = await Promise.all(records.map((record) => requested(site, summary(site, record))))
    const {seconds, loads} = loadBetween(before, now)
    before = now
    const endpoints = records.flatMap((record, at): EndpointLoad[] => {
      const load = loads.find(({name}) => name === record.document.name)
      if (!load) return [] // deployed between the two questions
      const {state, model} = seen[at]!
      const servers = (running[at] ?? []).flatMap((release) =>
        release.replicas.flatMap(({service, node, url}): ServerLoad[] => {
          const counted = load.servers.find((one) => one.url === url)
          const place = record.scaling?.places.find((one) => one.service === service)?.state
          if (!counted || place === 'off') return []
          const {inFlight, requests} = counted
          return [
            {server: service, node, release: release.id, inFlight, requests, gpus: gpus.servers.get(service) ?? []},
          ]
        }),
      )
      return [{...load, state, model, servers}]
    })
    return {rack: site.rack.name, seconds, endpoints, unknown: gpus.unknown}
  }
}
