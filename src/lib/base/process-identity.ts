import {execFile} from 'node:child_process'
import {readFile, readlink} from 'node:fs/promises'
import {hostname} from 'node:os'
import {promisify} from 'node:util'

/**
 * A process as it is written down where several machines may read it: a pid alone is everywhere, and soon another's.
 */
export interface ProcessMark {
  pid: number
  /** See processIdentity. */
  identity: string
  /** Among which processes its pid means it: this start of the machine and, on Linux, this namespace of pids. */
  place: string
}

/** Of this process. */
export async function ownMark(): Promise<ProcessMark> {
  const identity = await processIdentity(process.pid)
  if (identity === undefined) throw new Error('this process is not to be found')
  return {pid: process.pid, identity, place: await ownPlace()}
}

/** `elsewhere`: of another machine, another start of this one, or a container's, which cannot be judged from here. */
export async function stateOfMark(mark: ProcessMark): Promise<'running' | 'gone' | 'elsewhere'> {
  if (mark.place !== (await ownPlace())) return 'elsewhere'
  return (await processIdentity(mark.pid)) === mark.identity ? 'running' : 'gone'
}

async function ownPlace(): Promise<string> {
  if (process.platform !== 'linux') return hostname()
  const [boot, space] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'latin1'),
    readlink('/proc/self/ns/pid'),
  ])
  return `${boot.trim()} ${space}`
}

/**
 * What tells a process from every other one that had, or will have, the same pid: when it was started, and on Linux
 * since which start of the machine. Undefined where there is none; one that has ended and only waits to be collected by
 * its parent is none.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid)
}

async function linuxIdentity(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile('/proc/sys/kernel/random/boot_id', 'latin1'),
    ])
    const fields = statFields(stat)
    return 'ZX'.includes(fields[0] ?? 'X') ? undefined : `${boot.trim()} ${fields[19]}`
  } catch {
    return undefined
  }
}

/**
 * Of /proc/PID/stat, from the state on (proc(5), field 3; starttime, 22, is at 19): the name before it is in parentheses
 * and may hold anything, so count from the last one. Pure.
 */
export function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** By POSIX's ps, whose start time is exact to the second. */
async function psIdentity(pid: number): Promise<string | undefined> {
  try {
    const {stdout} = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      env: {...process.env, LC_ALL: 'C', TZ: 'UTC'},
    })
    const [, state, started] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? []
    return state === undefined || state.startsWith('Z') ? undefined : started
  } catch {
    return undefined
  }
}
