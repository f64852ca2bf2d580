import {readLink} from '../chain/index.ts'
import type {HeadConnection} from '../head/index.ts'
import type {HeadAudit} from '../protocol/index.ts'

export interface AuditFilter {
  /** A part of who it was, or says to be. */
  who?: string | undefined
  /** The action, or its beginning up to a dot: `token`. */
  action?: string | undefined
  /** A part of what it was done to. */
  target?: string | undefined
  /** Only what was refused, or failed. */
  refused?: boolean | undefined
  /** Seconds since 1970. */
  since?: number | undefined
  most: number
}

/** The newest lines that a filter lets through, in the order in which they were written. */
export async function readAudit(head: Pick<HeadConnection, 'request'>, filter: AuditFilter): Promise<HeadAudit[]> {
  const found: HeadAudit[] = []
  for (const number of (await segmentsOf(head)).toReversed()) {
    const lines = (await linesOf(head, number)).flatMap((line) => readLink<HeadAudit>(line) ?? [])
    for (const one of lines.toReversed()) {
      if (filter.since !== undefined && one.at < filter.since * 1000) return found.toReversed()
      if (isWanted(one, filter)) found.push(one)
      if (found.length >= filter.most) return found.toReversed()
    }
  }
  return found.toReversed()
}

/** Numbers of the log's files, the oldest first. */
export async function segmentsOf(head: Pick<HeadConnection, 'request'>): Promise<number[]> {
  const {segments} = await head.request<{segments: {number: number}[]}>('GET', '/flexrack/v1/audit')
  return segments.map((one) => one.number)
}

/** As they are in the file. */
export async function linesOf(head: Pick<HeadConnection, 'request'>, number: number): Promise<string[]> {
  const {text} = await head.request<{text: string}>('GET', `/flexrack/v1/audit/${number}`)
  return text.split('\n').filter((line) => line !== '')
}

function isWanted(one: HeadAudit, {who, action, target, refused}: AuditFilter): boolean {
  if (who !== undefined && !one.who.includes(who) && !one.says?.includes(who)) return false
  if (action !== undefined && one.action !== action && !one.action.startsWith(`${action}.`)) return false
  if (target !== undefined && !one.target.includes(target)) return false
  return !refused || one.error !== undefined
}
