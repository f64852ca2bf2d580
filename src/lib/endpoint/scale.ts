import {CliError} from '../base/index.ts'
import type {NodeReason} from '../placement/index.ts'
import {requireNoCanary} from './canary.ts'
import type {Prepare} from './change.ts'
import {activeRelease, type EndpointRecord, type Release, type Replica} from './document.ts'
import {serviceId} from './placement.ts'
import {without} from './plan.ts'
import {findRoom} from './room.ts'
import {recipeOf} from './runtime-of.ts'
import {runningOf, scalingOf, startsOf, wishOf, readCount, type ReplicaCount, type ReplicaWish} from './scaling.ts'
import type {Site} from './site.ts'
import {requireEndpoint} from './store.ts'

/** More or fewer servers of the active release, or a range for the head to choose from; on the nodes that it has. */
export function scale(name: string, count: ReplicaCount, seconds: number | undefined): Prepare {
  const wish = readCount(count)
  return async (site) => {
    const record = await requireEndpoint(site.head, name)
    requireNoCanary(record, 'it is scaled')
    const active = activeRelease(record.document)
    if (!active)
      throw new CliError('NOT_FOUND', `endpoint ${name} serves nothing that could be scaled`, {
        hint: `flexrack endpoint deploy ${name}`,
      })
    const recipe = await recipeOf(active, site.context.env)
    const longest = seconds ?? active.scaling?.longestStart ?? recipe.ready.seconds
    const {release, reasons} = await withRoom(site, name, active, scaled(name, record, active, wish, longest))
    const added = without(release.replicas, active.replicas)
    const stop = without(active.replicas, release.replicas)
    const isSame = JSON.stringify(wishOf(active)) === JSON.stringify(wishOf(release))
    if (added.length === 0 && stop.length === 0 && isSame) return undefined
    return {
      change: {
        command: 'endpoint scale',
        endpoint: name,
        release,
        ...startsOf(added, release),
        agents: startsOf(release.replicas, release).agents,
        stop,
        ...(reasons && {reasons}),
        headNode: site.rack.head.node,
        fetch: false,
        asksModel: false,
      },
      version: undefined,
      rejectOld: false,
      seconds,
    }
  }
}

/** Servers that need GPUs or memory come to nodes that have it free. */
async function withRoom(
  site: Site,
  name: string,
  active: Release,
  release: Release,
): Promise<{release: Release; reasons?: NodeReason[]}> {
  const added = without(release.replicas, active.replicas)
  const [first] = added
  if (!first || (release.gpus === undefined && release.memory === undefined)) return {release}
  const {replicas, reasons} = await findRoom(site, release, {
    nodes: site.rack.nodes,
    service: [name, release.id],
    first: first.index,
    count: added.length,
    least: added.filter(({prepared}) => !prepared).length,
  })
  const placed = release.replicas.map((replica): Replica => {
    const found = added.includes(replica) ? replicas.find(({index}) => index === replica.index) : undefined
    return found ? {...found, ...(replica.prepared && {prepared: true})} : replica
  })
  return {release: {...release, replicas: placed}, reasons}
}

/** Those that run are kept first. Where the head chooses, more are prepared; else they are started, as new services. Pure. */
export function scaled(
  name: string,
  record: Pick<EndpointRecord, 'scaling'>,
  {scaling: before, ...active}: Release,
  wish: ReplicaWish,
  longestStart: number,
): Release {
  const scaling = scalingOf(wish, longestStart, before)
  const running = runningOf(record, {...active, ...(before && {scaling: before})})
  const [on, off] = [true, false].map((runs) => active.replicas.filter(({service}) => running.has(service) === runs))
  const kept = [...(on ?? []), ...(scaling ? (off ?? []) : [])].slice(0, wish.replicas)
  const nodes = [...new Set(active.replicas.map((replica) => replica.node))]
  const next = Math.max(-1, ...active.replicas.map((replica) => replica.index)) + 1
  const added = Array.from({length: wish.replicas - kept.length}, (_, at): Replica => {
    const node = nodes[(kept.length + at) % nodes.length] ?? ''
    return {index: next + at, node, service: serviceId(name, active.id, next + at)}
  })
  const replicas = [...kept, ...added].map(({prepared: _, ...replica}): Replica =>
    scaling && !running.has(replica.service) ? {...replica, prepared: true} : replica,
  )
  return {...active, replicas, ...(scaling && {scaling})}
}
