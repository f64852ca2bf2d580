import type {Batch, LoggedModel, Metric, ModelVersion, RegisteredModel, RunStatus, TrackedRun} from './types.ts'

/** MLflow's JSON: 64-bit integers and special floats may come as numbers or as strings; empty lists are left out. */
export interface WirePair {
  key: string
  value: string
}
export interface WireMetric {
  key: string
  value: number | string
  timestamp: number | string
  step?: number | string
}
export interface WireRun {
  info: {
    run_id: string
    run_name?: string
    experiment_id: string
    user_id?: string
    status: RunStatus
    start_time?: number | string
    end_time?: number | string
    artifact_uri: string
    lifecycle_stage: string
  }
  data?: {metrics?: WireMetric[]; params?: WirePair[]; tags?: WirePair[]}
}
export interface WireModel {
  name: string
  description?: string
  creation_timestamp?: number | string
  last_updated_timestamp?: number | string
  tags?: WirePair[]
  aliases?: {alias: string; version: string}[]
}
export interface WireVersion {
  name: string
  version: string | number
  status?: string
  source?: string
  run_id?: string
  model_id?: string
  description?: string
  creation_timestamp?: number | string
  tags?: WirePair[]
  aliases?: string[]
}
export interface WireLoggedModel {
  info: {
    model_id: string
    name?: string
    source_run_id?: string
    experiment_id: string
    status: string
    artifact_uri: string
  }
}

export function runOf({info, data = {}}: WireRun): TrackedRun {
  return {
    id: info.run_id,
    name: info.run_name ?? '',
    experimentId: info.experiment_id,
    user: info.user_id ?? '',
    status: info.status,
    startTime: Number(info.start_time ?? 0),
    endTime: info.end_time === undefined || Number(info.end_time) === 0 ? undefined : Number(info.end_time),
    artifactUri: info.artifact_uri,
    stage: info.lifecycle_stage,
    metrics: Object.fromEntries((data.metrics ?? []).map((one) => [one.key, metricOf(one)])),
    params: recordOf(data.params),
    tags: recordOf(data.tags),
  }
}

export function metricOf(wire: WireMetric): Metric {
  return {key: wire.key, value: Number(wire.value), timestamp: Number(wire.timestamp), step: Number(wire.step ?? 0)}
}

export function modelOf(wire: WireModel): RegisteredModel {
  return {
    name: wire.name,
    description: wire.description ?? '',
    tags: recordOf(wire.tags),
    aliases: Object.fromEntries((wire.aliases ?? []).map(({alias, version}) => [alias, String(version)])),
    createdAt: Number(wire.creation_timestamp ?? 0),
    updatedAt: Number(wire.last_updated_timestamp ?? 0),
  }
}

export function versionOf(wire: WireVersion): ModelVersion {
  return {
    name: wire.name,
    version: String(wire.version),
    status: wire.status ?? 'READY',
    source: wire.source ?? '',
    runId: wire.run_id || undefined,
    // MLflow's own store leaves model_id out; the source says the same.
    modelId: wire.model_id || /^models:\/(m-[^/]+)$/.exec(wire.source ?? '')?.[1],
    description: wire.description ?? '',
    tags: recordOf(wire.tags),
    aliases: wire.aliases ?? [],
    createdAt: Number(wire.creation_timestamp ?? 0),
  }
}

export function loggedModelOf({info}: WireLoggedModel): LoggedModel {
  return {
    id: info.model_id,
    name: info.name ?? '',
    runId: info.source_run_id || undefined,
    experimentId: info.experiment_id,
    status: info.status,
    artifactUri: info.artifact_uri,
  }
}

export function pairs(record: Record<string, string> | undefined): WirePair[] | undefined {
  return record && Object.entries(record).map(([key, value]) => ({key, value}))
}

/**
 * Limits of one log-batch call (MLflow's documentation of the endpoint): 1000 items, of them 100 params and 100 tags, 1
 * MB.
 */
const MOST_METRICS = 800
const MOST_PAIRS = 100
const MOST_CHARACTERS = 400_000

/** Cuts a batch into bodies of log-batch that the server accepts. */
export function batches({metrics = [], params = {}, tags = {}}: Batch): Record<string, unknown>[] {
  const metricParts = chunks(
    metrics.map((one) => ({...one, value: wireNumber(one.value)})),
    MOST_METRICS,
  )
  const paramParts = chunks(pairs(params) ?? [], MOST_PAIRS)
  const tagParts = chunks(pairs(tags) ?? [], MOST_PAIRS)
  return [
    ...metricParts.map((part) => ({metrics: part})),
    ...paramParts.map((part) => ({params: part})),
    ...tagParts.map((part) => ({tags: part})),
  ]
}

/** JSON has no NaN and no infinities: MLflow takes them as strings. */
function wireNumber(value: number): number | string {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? value : value > 0 ? 'Infinity' : '-Infinity'
}

function chunks<T>(items: T[], most: number): T[][] {
  const parts: T[][] = []
  let part: T[] = []
  let characters = 0
  for (const item of items) {
    const size = JSON.stringify(item).length
    if (part.length === most || (part.length > 0 && characters + size > MOST_CHARACTERS)) {
      parts.push(part)
      part = []
      characters = 0
    }
    part.push(item)
    characters += size
  }
  if (part.length > 0) parts.push(part)
  return parts
}

function recordOf(list: WirePair[] | undefined): Record<string, string> {
  return Object.fromEntries((list ?? []).map(({key, value}) => [key, value]))
}
