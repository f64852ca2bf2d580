import {readFileSync} from 'node:fs'
import {readdir, readFile} from 'node:fs/promises'
import {setTimeout as pause} from 'node:timers/promises'

const LOOK_MS = 50

/**
 * Live processes whose environment has `name=value`: ours, whatever became of the process that started them. Linux
 * only, as nodes are.
 */
export async function findTagged(name: string, value: string): Promise<number[]> {
  const wanted = `${name}=${value}`
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number)
  const found = await Promise.all(pids.map(async (pid) => ((await hasWord(pid, wanted)) ? pid : undefined)))
  return found.filter((pid) => pid !== undefined && pid !== process.pid) as number[]
}

/**
 * SIGTERM, `graceMs`, SIGKILL, until none is left. Gives those that would not go (never seen but in uninterruptible
 * sleep).
 */
export async function endTagged(name: string, value: string, graceMs: number): Promise<number[]> {
  const gone = async (limit: number): Promise<number[]> => {
    const until = Date.now() + limit
    for (;;) {
      const left = await findTagged(name, value)
      if (left.length === 0 || Date.now() > until) return left
      await pause(LOOK_MS)
    }
  }
  const word = `${name}=${value}`
  for (const pid of await findTagged(name, value)) send(pid, word, 'SIGTERM')
  for (const pid of await gone(graceMs)) send(pid, word, 'SIGKILL')
  return gone(5000)
}

async function hasWord(pid: number, wanted: string): Promise<boolean> {
  try {
    return isIn(await readFile(`/proc/${pid}/environ`, 'latin1'), wanted)
  } catch {
    return false // ended in the meantime, or not ours
  }
}

/** A zombie's environment is empty. */
function isIn(environment: string, word: string): boolean {
  return environment.split('\0').includes(word)
}

/** Nothing comes between the last look and the signal: the pid may have become another's since it was found. */
function send(pid: number, word: string, signal: NodeJS.Signals): void {
  try {
    if (isIn(readFileSync(`/proc/${pid}/environ`, 'latin1'), word)) process.kill(pid, signal)
  } catch {
    // It ended in the meantime.
  }
}
