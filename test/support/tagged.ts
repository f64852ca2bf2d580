import {readdir, readFile} from 'node:fs/promises'

/**
 * Live processes of a run's ranks, of what started them and of what they started, on any node of this machine, from
 * /proc alone.
 */
export async function processesOf(run: string): Promise<{pid: number; name: string}[]> {
  const found: {pid: number; name: string}[] = []
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '') // a zombie has none any more
    if (!environment.split('\0').some((entry) => entry.startsWith(`FLEXRACK_TAG=${run}.`))) continue
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => undefined)
    if (name !== undefined) found.push({pid: Number(pid), name: name.trim()})
  }
  return found
}
