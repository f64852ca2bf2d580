import type {ScaleSpec} from '../manifest/index.ts'
import type {EndpointRecord, Release, ReleaseScaling, Replica} from './document.ts'

/** How many servers there are to be: `minReplicas` to `replicas` as the head chooses, or `replicas`. */
export interface ReplicaWish extends Partial<ScaleSpec> {
  replicas: number
  minReplicas?: number
}

/** A number, or what is chosen from. */
export type ReplicaCount = number | ReplicaWish

/** By which the head chooses, where nobody says otherwise; said in manifest/schema.ts and src/cli/endpoint/scaling-flags.ts. */
const DEFAULTS: ScaleSpec = {target: 4, idle: 600, down: 300}

/** Undefined where their number is fixed. */
export function scalingOf(
  wish: ReplicaWish,
  longestStart: number,
  before?: ReleaseScaling,
): ReleaseScaling | undefined {
  const {replicas, minReplicas, target, idle, down} = wish
  if (minReplicas === undefined) return undefined
  return {
    min: minReplicas,
    max: replicas,
    target: target ?? before?.target ?? DEFAULTS.target,
    idle: idle ?? before?.idle ?? DEFAULTS.idle,
    down: down ?? before?.down ?? DEFAULTS.down,
    longestStart,
    ...(before?.startSeconds !== undefined && {startSeconds: before.startSeconds}),
  }
}

export function readCount(count: ReplicaCount): ReplicaWish {
  return typeof count === 'number' ? {replicas: count} : count
}

/** How many servers a release has, as it would be asked for. */
export function wishOf(release: Release | undefined): ReplicaWish {
  const {scaling, replicas = []} = release ?? {}
  if (!scaling) return {replicas: Math.max(1, replicas.length)}
  const {min, max, target, idle, down} = scaling
  return {replicas: max, minReplicas: min, target, idle, down}
}

/** Those beyond what is started at a deploy are prepared: one at least is started, which shows that it can be. */
export function withPrepared(replicas: Replica[], scaling: ReleaseScaling | undefined): Replica[] {
  if (!scaling) return replicas
  const started = Math.max(1, scaling.min)
  return replicas.map((replica, index) => (index < started ? replica : {...replica, prepared: true}))
}

/** Whether its nodes need an agent: it starts servers where the head wants them, and tells it how they use their GPUs. Pure. */
export function needsAgent({scaling, gpus}: Pick<Release, 'scaling' | 'gpus'>): boolean {
  return scaling !== undefined || gpus !== undefined
}

/** Of these replicas those to start, those to prepare, and the nodes that need an agent. Pure. */
export function startsOf(
  replicas: Replica[],
  release: Pick<Release, 'scaling' | 'gpus'>,
): {start: Replica[]; prepare: Replica[]; agents: string[]} {
  return {
    start: replicas.filter(({prepared}) => !prepared),
    prepare: replicas.filter(({prepared}) => prepared),
    agents: needsAgent(release) ? [...new Set(replicas.map(({node}) => node))] : [],
  }
}

/** Services of the active release that run as the head has chosen; of a fixed number all. */
export function runningOf({scaling}: Pick<EndpointRecord, 'scaling'>, active: Release): Set<string> {
  if (!active.scaling) return new Set(active.replicas.map(({service}) => service))
  const on = scaling?.places.filter(({state}) => state === 'ready' || state === 'starting') ?? []
  return new Set(on.map(({service}) => service))
}
