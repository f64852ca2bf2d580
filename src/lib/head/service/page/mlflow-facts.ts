import type {Parts} from '../parts.ts'
import {readMlflow, readRun, type MlflowPlace} from '../tracking/mlflow-reader.ts'
import {isSystem} from './words.ts'

/** Curves of one or more runs, by metric: step and value. */
export interface RunCurves {
  lines: Record<string, [number, number][]>
  /** When its own first and newest values were logged; milliseconds since 1970. */
  span: {first: number; last: number} | null
  /** Why there are none. */
  away: string | null
}

/** MLflow gives a part of long histories that is spread evenly. */
const MOST_POINTS = 2000
const MOST_METRICS = 40

/**
 * What the head's own tracking server knows of a run, in the first of the places that has it. A server elsewhere is not
 * asked: it is not the head's.
 */
export async function curvesOf(
  {mlflow}: Pick<Parts, 'mlflow'>,
  id: string | null,
  places: readonly MlflowPlace[],
): Promise<RunCurves> {
  if (id === null) return {lines: {}, span: null, away: 'It has no record at the tracking server.'}
  if (!mlflow.isReady)
    return {lines: {}, span: null, away: `The tracking server is not ready (${mlflow.status.state}).`}
  const found = await firstThat(places, (place) => metricsOf(place, id))
  if (!found) return {lines: {}, span: null, away: "Its record is not at the head's tracking server."}
  const [place, names] = found
  const histories = await Promise.all(
    names
      .slice(0, MOST_METRICS)
      .map(async (name): Promise<[string, WireValue[]]> => [name, await historyOf(place, [id], name)]),
  )
  const times = histories.flatMap(([name, values]) =>
    isSystem(name) ? [] : values.map((one) => Number(one.timestamp)),
  )
  return {
    lines: Object.fromEntries(histories.map(([name, values]) => [name, pointsOf(values).get(id) ?? []])),
    span: spanOf(times.filter((one) => Number.isFinite(one))),
    away: null,
  }
}

/** What a run was started with, by its id; nothing of those that none of the places has. */
export async function paramsOf(places: readonly MlflowPlace[], ids: readonly string[]): Promise<Map<string, Params>> {
  const found = await Promise.all(
    ids.map(async (id): Promise<[string, Params]> => {
      const [, params] = (await firstThat(places, (place) => paramsAt(place, id))) ?? []
      return [id, params ?? {}]
    }),
  )
  return new Map(found)
}

type Params = Record<string, string>

async function paramsAt(place: MlflowPlace, id: string): Promise<Params | undefined> {
  const run = await readRun(place, id)
  return run && Object.fromEntries((run.data?.params ?? []).map(({key, value}) => [key, value]))
}

async function firstThat<T>(
  places: readonly MlflowPlace[],
  look: (place: MlflowPlace) => Promise<T | undefined>,
): Promise<[MlflowPlace, T] | undefined> {
  for (const place of places) {
    const found = await look(place)
    if (found !== undefined) return [place, found]
  }
  return undefined
}

function spanOf(times: readonly number[]): RunCurves['span'] {
  if (times.length === 0) return null
  let [first, last] = [Infinity, -Infinity]
  for (const at of times) [first, last] = [Math.min(first, at), Math.max(last, at)]
  return {first, last}
}

interface WireValue {
  run_id: string
  step?: number
  value: number
  timestamp?: number | string
}

/** Of each run the values of one metric, by its id. */
export async function historiesOf(
  place: MlflowPlace,
  ids: readonly string[],
  name: string,
): Promise<Map<string, [number, number][]>> {
  return pointsOf(await historyOf(place, ids, name))
}

async function historyOf(place: MlflowPlace, ids: readonly string[], name: string): Promise<WireValue[]> {
  const query = new URLSearchParams([
    ...ids.map((id) => ['run_ids', id]),
    ['metric_key', name],
    ['max_results', String(MOST_POINTS)],
  ] as [string, string][])
  const {status, text} = await readMlflow(place, `/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval?${query}`)
  if (status !== 200) return []
  const {metrics = []} = JSON.parse(text) as {metrics?: WireValue[]}
  return metrics
}

function pointsOf(metrics: readonly WireValue[]): Map<string, [number, number][]> {
  const found = new Map<string, [number, number][]>()
  for (const {run_id: id, step = 0, value} of metrics) {
    const points = found.get(id) ?? []
    points.push([Number(step), Number(value)])
    found.set(id, points)
  }
  for (const points of found.values()) points.sort((a, b) => a[0] - b[0])
  return found
}

/** Names of what it logged, those of the machine last; undefined where there is no such run. */
async function metricsOf(place: MlflowPlace, id: string): Promise<string[] | undefined> {
  const run = await readRun(place, id)
  const names = (run?.data?.metrics ?? []).map(({key}) => key)
  return run && names.toSorted((a, b) => Number(isSystem(a)) - Number(isSystem(b)) || a.localeCompare(b))
}

export interface ModelFacts {
  name: string
  /** Null: of none that is kept apart. */
  project: string | null
  description: string
  updated: number | null
  aliases: Record<string, string>
  versions: {version: string; run: string; created: number | null; status: string}[]
}

const MOST_MODELS = 200

/** The registry's models with their newest versions, the one that changed last first. `project`: whose they are. */
export async function modelFacts(
  places: readonly {project: string | null; place: MlflowPlace}[],
): Promise<ModelFacts[]> {
  const found = await Promise.all(places.map(({project, place}) => modelsAt(place, project)))
  return found.flat().toSorted((a, b) => (b.updated ?? 0) - (a.updated ?? 0))
}

async function modelsAt(place: MlflowPlace, project: string | null): Promise<ModelFacts[]> {
  const {status, text} = await readMlflow(place, `/api/2.0/mlflow/registered-models/search?max_results=${MOST_MODELS}`)
  // A project of which nothing was ever recorded is no workspace there yet.
  if (status === 404 && project !== null) return []
  if (status !== 200) throw new Error(`the registry answers with status ${status}`)
  const {registered_models: models = []} = JSON.parse(text) as {registered_models?: WireModel[]}
  const {text: all} = await readMlflow(place, `/api/2.0/mlflow/model-versions/search?max_results=1000`)
  const {model_versions: versions = []} = JSON.parse(all) as {model_versions?: WireVersion[]}
  return models.map((one) => ({
    name: one.name,
    project,
    description: one.description ?? '',
    updated: timeOf(one.last_updated_timestamp),
    aliases: Object.fromEntries((one.aliases ?? []).map(({alias, version}) => [alias, version])),
    versions: versions
      .filter(({name}) => name === one.name)
      .toSorted((a, b) => Number(b.version) - Number(a.version))
      .map((version) => ({
        version: version.version,
        run: version.run_id ?? '',
        created: timeOf(version.creation_timestamp),
        status: version.status ?? '',
      })),
  }))
}

interface WireModel {
  name: string
  description?: string
  last_updated_timestamp?: number | string
  aliases?: {alias: string; version: string}[]
}

interface WireVersion {
  name: string
  version: string
  run_id?: string
  creation_timestamp?: number | string
  status?: string
}

function timeOf(value: number | string | undefined): number | null {
  return value === undefined ? null : Number(value)
}
