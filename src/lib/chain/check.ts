import {FIRST_HASH, readLink} from './link.ts'

/** A line that was seen once, kept where who changes the lines does not reach. */
export interface Anchor {
  seq: number
  hash: string
}

export interface ChainCheck {
  /** Lines that were looked at. */
  lines: number
  /** The first line that is kept; later than 1 where older ones were let go. */
  first: number
  /** The last line, to be kept elsewhere. */
  last: Anchor | null
  /** What does not hold: the number of the line, and a sentence. Empty: all is as it was written. */
  faults: {seq: number; what: string}[]
}

const MOST_FAULTS = 20

/**
 * Looks at lines in their order, from the oldest that is kept. A line that was changed, is missing or is not in its place
 * is a fault. That the last ones were cut off only an anchor tells: `anchors` are looked for, as far as they are not
 * older than what is kept. Pure.
 */
export function checkChain(lines: readonly string[], anchors: readonly Anchor[] = []): ChainCheck {
  const faults: ChainCheck['faults'] = []
  const wanted = new Map(anchors.map((one) => [one.seq, one.hash]))
  let first: number | undefined
  let last: Anchor | null = null
  for (const line of lines) {
    const read = readLink(line)
    if (!read) {
      const seq: number = (last?.seq ?? 0) + 1
      faults.push({seq, what: `line ${seq} was changed: its hash is another one`})
      last = {seq, hash: ''} // the next one says what it was
      first ??= seq
      continue
    }
    first ??= read.seq
    const fault = last ? faultBetween(last, read) : read.seq === 1 && read.before !== FIRST_HASH
    if (fault) faults.push({seq: read.seq, what: fault === true ? 'line 1 does not begin the log' : fault})
    const anchor = wanted.get(read.seq)
    if (anchor !== undefined && anchor !== read.hash)
      faults.push({
        seq: read.seq,
        what: `line ${read.seq} is not the one that was seen here before: all was written anew`,
      })
    last = {seq: read.seq, hash: read.hash}
  }
  const end = last?.seq ?? 0
  for (const seq of wanted.keys())
    if (seq > end)
      faults.push({seq, what: `the log ends at line ${end}, and line ${seq} was seen before: its end was cut off`})
  return {lines: lines.length, first: first ?? 0, last: last?.hash ? last : null, faults: faults.slice(0, MOST_FAULTS)}
}

function faultBetween(last: Anchor, read: {seq: number; before: string}): string | undefined {
  if (read.seq <= last.seq) return `line ${read.seq} comes after line ${last.seq}: lines were swapped or doubled`
  if (read.seq > last.seq + 1)
    return read.seq === last.seq + 2
      ? `line ${last.seq + 1} is missing`
      : `lines ${last.seq + 1} to ${read.seq - 1} are missing`
  if (last.hash !== '' && read.before !== last.hash)
    return `line ${last.seq} is not the one that line ${read.seq} was written after`
  return undefined
}
