import {join} from 'node:path'
import {ensurePrivateFolder, textIfThere, userPaths, writeWhole, type Context} from '../base/index.ts'
import {checkChain, readLink, type Anchor, type ChainCheck} from '../chain/index.ts'
import type {HeadConnection} from '../head/index.ts'
import type {HeadAudit} from '../protocol/index.ts'
import {linesOf, segmentsOf} from './read.ts'

export interface AuditCheck extends ChainCheck {
  rack: string
  /** What was looked for: the last line that this machine has seen, and the one that was given. */
  anchors: Anchor[]
}

/**
 * Fetches the log and looks at it here: whether each line is what was written, in its place, and whether the last lines
 * that were seen from here are there. Where all holds, its end is kept for the next time.
 */
export async function verifyAudit(
  rack: string,
  head: Pick<HeadConnection, 'request'>,
  given: Anchor | undefined,
  context: Context,
): Promise<AuditCheck> {
  const file = join(userPaths(context.env).state, 'audit', rack)
  const kept = anchorOf((await textIfThere(file))?.trim() ?? '')
  const anchors = [kept, given].filter((one) => one !== undefined)
  const lines: string[] = []
  for (const number of await segmentsOf(head)) lines.push(...(await linesOf(head, number)))
  const check = checkChain(lines, anchors)
  const gap = check.first > 1 ? unexplained(check.first, lines) : undefined
  const faults = gap === undefined ? check.faults : [{seq: check.first, what: gap}, ...check.faults]
  if (faults.length === 0 && check.last) {
    await ensurePrivateFolder(join(userPaths(context.env).state, 'audit'))
    await writeWhole(file, `${anchorText(check.last)}\n`)
  }
  return {...check, faults, rack, anchors}
}

/** `12:ab34...`, as it is shown; undefined where it is none. */
export function anchorOf(text: string): Anchor | undefined {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  return seq === undefined || hash === undefined ? undefined : {seq: Number(seq), hash}
}

export function anchorText({seq, hash}: Anchor): string {
  return `${seq}:${hash}`
}

/** Old lines are let go with a line that says so, and which was the last. */
function unexplained(first: number, lines: readonly string[]): string | undefined {
  const {before} = readLink(lines[0] ?? '') ?? {}
  const isTold = lines
    .flatMap((line) => readLink<HeadAudit>(line) ?? [])
    .some(
      (one) =>
        one.who === 'head' &&
        one.action === 'audit.forget' &&
        one.target === `lines up to ${first - 1}` &&
        one.outcome === `the last one was ${before}`,
    )
  return isTold ? undefined : `the log begins at line ${first}, and no line says that older ones were let go`
}
