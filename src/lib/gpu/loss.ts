import {readFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'

/** What the drivers and the keeper wrote down of a command's leases (native/client/loss.h). */
export interface Loss {
  /** For people. */
  why: string
  /** Somebody gave the lease back (`gpu release`): it is not to be taken again. */
  released: boolean
}

/** Where losses are told; beside the lease file, so that it goes with it. */
export function lossFile(leaseFile: string): string {
  return join(dirname(leaseFile), 'lost')
}

/** What was lost while the command ran; null: nothing. */
export async function readLoss(leaseFile: string): Promise<Loss | null> {
  const text = await readFile(lossFile(leaseFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return lossOf(text)
}

/** Lines `lost: WHY` and `ended: WHY`. Pure. */
export function lossOf(text: string): Loss | null {
  const lines = text.split('\n').filter((line) => line !== '')
  const said = lines.find((line) => line.startsWith('ended: ')) ?? lines[0]
  if (said === undefined) return null
  return {why: said.replace(/^(ended|lost): /, ''), released: said.startsWith('ended: ')}
}
