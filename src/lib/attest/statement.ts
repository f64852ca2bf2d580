import type {RunRecord} from '../protocol/index.ts'
import {wrong} from './envelope.ts'

const STATEMENT = 'https://in-toto.io/Statement/v1'
/** What SLSA's provenance has (https://slsa.dev/spec/v1.0/provenance), but it is a person who says it, and no builder. */
const PREDICATE = 'urn:flexrack:training:v1'

/** What somebody signs of a model version. */
export interface Statement {
  /** `digits/3`. */
  model: string
  /** The output that the version is; a file, or a folder of them. */
  path: string
  /** SHA-256 by path, as its run left them. */
  files: Map<string, string>
  /** SHA-256 of the run's record. */
  record: string
}

/** In the bytes that are signed. Pure. */
export function statementBytes({model, path: main, files, record: sha256}: Statement, record: RunRecord): Buffer {
  const dependencies = [
    {uri: `urn:flexrack:record:${record.run}`, digest: {sha256}},
    ...(record.code ? [{uri: 'urn:flexrack:code', digest: {sha256: record.code.digest}}] : []),
    ...(record.environment ? [{uri: 'urn:flexrack:environment', digest: {sha256: record.environment.lock}}] : []),
    ...record.data.map(({name, digest}) => ({uri: `urn:flexrack:data:${name}`, digest: {sha256: digest}})),
    ...(record.image === null ? [] : [{uri: `urn:flexrack:image:${record.image}`}]),
  ]
  return Buffer.from(
    JSON.stringify({
      _type: STATEMENT,
      subject: [...files].map(([path, digest]) => ({name: `${model}:${path}`, digest: {sha256: digest}})),
      predicateType: PREDICATE,
      predicate: {
        model,
        path: main,
        record: {run: record.run, sha256},
        buildDefinition: {
          buildType: 'urn:flexrack:train:v1',
          externalParameters: {command: record.command, seeds: record.seeds},
          internalParameters: {launcher: record.launcher, nodes: record.nodes.map((one) => one.node)},
          resolvedDependencies: dependencies,
        },
        runDetails: {
          builder: {id: `urn:flexrack:${record.origin?.version ?? 'unknown'}`},
          metadata: {
            invocationId: record.run,
            startedOn: new Date(record.started * 1000).toISOString(),
            ...(record.ended !== null && {finishedOn: new Date(record.ended * 1000).toISOString()}),
          },
        },
      },
    }),
  )
}

/** What of a payload counts. Errors: CHECK_FAILED. Pure. */
export function readStatement(payload: Buffer): Statement {
  let value: {
    _type?: unknown
    predicateType?: unknown
    subject?: {name?: unknown; digest?: {sha256?: unknown}}[]
    predicate?: {model?: unknown; path?: unknown; record?: {sha256?: unknown}}
  }
  try {
    value = JSON.parse(payload.toString()) as typeof value
  } catch {
    throw wrong('it is no JSON')
  }
  const {model, path, record} = value?.predicate ?? {}
  if (
    value?._type !== STATEMENT ||
    value.predicateType !== PREDICATE ||
    typeof model !== 'string' ||
    typeof path !== 'string'
  )
    throw wrong('it is not about a model of flexrack')
  if (typeof record?.sha256 !== 'string' || !Array.isArray(value.subject)) throw wrong('it names no record or no files')
  const files = new Map<string, string>()
  for (const one of value.subject) {
    const sha256 = one?.digest?.sha256
    if (typeof one?.name !== 'string' || !one.name.startsWith(`${model}:`) || typeof sha256 !== 'string')
      throw wrong('it is about something else as well')
    files.set(one.name.slice(model.length + 1), sha256)
  }
  return {model, path, files, record: record.sha256}
}
