import {isQuotaName, QUOTA_WORDS} from '../../../base/index.ts'
import type {ClaimPart, QuotaLimit, QuotaLimits} from '../../../protocol/index.ts'
import type {ClaimWish, OutlookWish, RunWord} from '../../types.ts'
import {Failure} from '../failure.ts'

/** Its being there tells commands that the head is to be asked before anything is taken. */
export const QUOTAS_FILE = 'quotas.json'

const NAME = /^[\w.@+-]{1,200}$/
const MOST_PARTS = 2000
/** GPUs of one node, its own or leased for its ranks. */
export const MOST_GPUS = 64
/** GPUs of one run. */
const MOST_OF_RUN = 100_000
/** Nodes and GPUs that a wish names, what it sees, and all that one user claims: the head compares them all, while others wait. */
export const LARGEST_CLAIMS = 20_000

/** Errors: 400. */
export function readWish(body: Record<string, unknown>): ClaimWish {
  const {run, project, gpus, priority = 0, limit = null, wait, seen, preemptible} = body
  const parts = readParts(body.parts)
  if (!isName(run) || !isName(project)) throw usage('a claim has a run and a project')
  if (!isCount(gpus, MOST_OF_RUN)) throw usage('gpus must be a number')
  return {
    run,
    project,
    parts,
    // whoever says less than it names has what it names all the same
    gpus: Math.max(gpus, namedGpus(parts)),
    priority: readPriority(priority),
    limit: readLimitSeconds(limit),
    ...(preemptible === true && {preemptible}),
    ...(wait === true && {wait}),
    ...(seen !== undefined && {seen: readSeen(seen)}),
  }
}

/** GPUs that parts name, each once. Pure. */
export function namedGpus(parts: readonly ClaimPart[]): number {
  return new Set(parts.flatMap((one) => one.gpus)).size
}

/** What of a wish a claim keeps. Pure. */
export function wantedOf({
  parts,
  gpus,
  project,
  priority,
  limit,
  preemptible,
}: ClaimWish): Pick<ClaimWish, 'parts' | 'gpus' | 'project' | 'priority' | 'limit' | 'preemptible'> {
  return {parts, gpus, project, priority, limit, ...(preemptible && {preemptible})}
}

/** Errors: 400. */
export function readWord({saved = null, away = false, has}: Record<string, unknown>): RunWord {
  // as old as a file may look: a checkpoint that was copied with its times is one
  if (saved !== null && !isCount(saved, 1e11)) throw usage('saved must be seconds')
  if (typeof away !== 'boolean') throw usage('away must be true or false')
  return {saved, away, ...(has !== undefined && {has: readHas(has)})}
}

/** Errors: 400. */
export function readOutlook({project, priority = 0, gpus = null, limit = null}: Record<string, unknown>): OutlookWish {
  if (!isName(project)) throw usage('a run has a project')
  if (gpus !== null && !isCount(gpus, MOST_OF_RUN)) throw usage('gpus must be a number')
  return {project, priority: readPriority(priority), gpus, limit: readLimitSeconds(limit)}
}

/** Errors: 400. */
export function readLimits(body: Record<string, unknown>): QuotaLimits {
  const names = Object.keys(QUOTA_WORDS)
  const other = Object.keys(body).find((one) => !names.includes(one))
  if (other !== undefined) throw usage(`there is no quota of ${other.slice(0, 50)}: ${names.join(', ')}`)
  const limits = Object.entries(body).filter(([, limit]) => limit !== undefined)
  if (limits.length === 0) throw usage(`a quota limits one of ${names.join(', ')}`)
  return Object.fromEntries(limits.map(([what, limit]) => [what, readLimit(limit, what === 'disk' ? 1e18 : 1e9)]))
}

/** Errors: 400. */
export function readQuotaName(name: string): string {
  if (isQuotaName(name)) return name
  throw usage('a quota is of user:NAME, user:*, team:NAME or project:NAME')
}

function readHas(has: unknown): NonNullable<RunWord['has']> {
  const parts = readParts(has)
  const found = (has as unknown[]).map((one, index) => {
    const {leased = 0} = one as Record<string, unknown>
    if (!isCount(leased, MOST_GPUS)) throw usage(`leased must be a number, of one node ${MOST_GPUS} at most`)
    return {...parts[index]!, leased}
  })
  // its claim is corrected by the sum, which is to be one that a claim may have
  if (found.reduce((sum, {leased}) => sum + leased, 0) > MOST_OF_RUN) throw usage('leased must be a number')
  return found
}

function readLimitSeconds(limit: unknown): number | null {
  if (limit === null || isCount(limit, 366 * 86_400)) return limit
  throw usage('limit must be seconds')
}

function readPriority(priority: unknown): number {
  if (Number.isInteger(priority) && Math.abs(priority as number) <= 100) return priority as number
  throw usage('priority must be from -100 to 100')
}

function readLimit(limit: unknown, largest: number): QuotaLimit {
  const {most, soft} = (limit ?? {}) as Record<string, unknown>
  if (!isCount(most, largest)) throw usage('a limit has the most that is allowed')
  return {most, ...(soft === true && {soft})}
}

function readSeen(seen: unknown): NonNullable<ClaimWish['seen']> {
  if (!Array.isArray(seen) || seen.length > MOST_PARTS) throw usage('seen must be runs')
  const found = seen.map((one: unknown) => {
    const {run, parts} = (one ?? {}) as Record<string, unknown>
    if (!isName(run)) throw usage('seen must be runs')
    return {run, parts: readParts(parts)}
  })
  requireSize(found.flatMap((one) => one.parts))
  return found
}

/** Nodes and GPUs of parts. Pure. */
export function sizeOf(parts: readonly ClaimPart[]): number {
  return parts.reduce((sum, {gpus}) => sum + 1 + gpus.length, 0)
}

function requireSize(parts: readonly ClaimPart[]): void {
  if (sizeOf(parts) > LARGEST_CLAIMS) throw usage(`parts name more than ${LARGEST_CLAIMS} nodes and GPUs`)
}

function readParts(parts: unknown): ClaimPart[] {
  if (!Array.isArray(parts) || parts.length > MOST_PARTS) throw usage('parts must be a list')
  const found = parts.map((one: unknown) => {
    const {node, gpus, exclusive} = (one ?? {}) as Record<string, unknown>
    if (typeof node !== 'string' || node.length > 500 || typeof exclusive !== 'boolean' || !isIds(gpus))
      throw usage('a part has node, gpus and exclusive')
    return {node, gpus, exclusive}
  })
  requireSize(found)
  return found
}

function isIds(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.length <= MOST_GPUS && value.every((id) => typeof id === 'string' && id.length <= 100)
  )
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}

function isCount(value: unknown, most: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= most
}

function usage(message: string): Failure {
  return new Failure(400, 'USAGE', message)
}
