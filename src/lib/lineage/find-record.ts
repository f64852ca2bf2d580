import {createHash} from 'node:crypto'
import {CliError, current} from '../base/index.ts'
import type {RunRecord} from '../protocol/index.ts'
import type {TrackedRun} from '../tracking/index.ts'
import {misshapen} from './record-shape.ts'
import type {Evidence, FoundRecord} from './types.ts'

/** Tag of a run, and of a model version: SHA-256 of the run's record. */
export const RECORD_TAG = 'flexrack.record'
/** Most bytes that are read of a record, and of the list of its files. */
export const MOST_RECORD = 4 << 20
/** Deepest nesting of a record: a real one has five levels. */
const MOST_DEPTH = 16
/** A run's name: it becomes one of a folder (reproduce.ts), so it has no path in it. */
const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** A run's record at the tracking server. Undefined where there is none. Errors: CHECK_FAILED for what is none. */
export async function findRecord(run: TrackedRun, evidence: Evidence): Promise<FoundRecord | undefined> {
  const bytes = await evidence.artifact(run, 'lineage/record.json', MOST_RECORD)
  return bytes && {sha256: createHash('sha256').update(bytes).digest('hex'), record: readRecord(bytes)}
}

/** Errors: CHECK_FAILED, NEWER_VERSION. Pure. */
export function readRecord(bytes: Buffer): RunRecord {
  if (bytes.length > MOST_RECORD) throw wrong(`it has more than ${MOST_RECORD} bytes`)
  // Before it is parsed: what is nested deeply costs the parser its stack.
  if (depthOf(bytes) > MOST_DEPTH) throw wrong(`it is nested more than ${MOST_DEPTH} deep`)
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    throw wrong('it is no JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it is no object')
  const record = current<RunRecord>('run.record', value, 'lineage/record.json')
  if (typeof record.run !== 'string' || typeof record.project !== 'string' || typeof record.user !== 'string')
    throw wrong('it does not say whose it is')
  if (!RUN_NAME.test(record.run)) throw wrong('its run has no name of one')
  const part = misshapen(record)
  if (part !== undefined) throw wrong(`${part} is not as a node writes it`)
  return record
}

function depthOf(bytes: Buffer): number {
  let [depth, most, isText] = [0, 0, false]
  for (let at = 0; at < bytes.length; at++) {
    const one = bytes[at]
    if (isText && one === 0x5c) at++
    else if (one === 0x22) isText = !isText
    else if (!isText && (one === 0x5b || one === 0x7b)) most = Math.max(most, ++depth)
    else if (!isText && (one === 0x5d || one === 0x7d)) depth--
  }
  return most
}

function wrong(why: string): CliError {
  return new CliError('CHECK_FAILED', `lineage/record.json is not the record of a run: ${why}`)
}
