import {readFileSync} from 'node:fs'
import {statFields} from '../base/index.ts'

/** True while a process runs. One that has ended and only waits to be collected by its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  if (process.platform !== 'linux') return true
  try {
    const [state] = statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    return state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}
