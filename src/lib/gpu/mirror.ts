import {readFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'

/** What the driver wrote down of a program that two servers carry out (native/client/loss.h). For people. */
export interface MirrorReport {
  /** A server that was lost, and who went on alone. */
  lost: string[]
  /** What the servers differed in. */
  mismatches: string[]
  /** What the program asked for and cannot have on two servers. */
  refused: string[]
}

/** Beside the lease file, so that it goes with it. */
export function mirrorFile(leaseFile: string): string {
  return join(dirname(leaseFile), 'mirror')
}

export async function readMirror(leaseFile: string): Promise<MirrorReport> {
  const text = await readFile(mirrorFile(leaseFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return mirrorReportOf(text)
}

/** Lines `lost: WHY`, `mismatch: WHAT` and `refused: WHAT`. Pure. */
export function mirrorReportOf(text: string): MirrorReport {
  const of = (kind: string): string[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${kind}: `))
      .map((line) => line.slice(kind.length + 2))
  return {lost: of('lost'), mismatches: of('mismatch'), refused: of('refused')}
}
