/**
 * CPU seconds of each test file, with all that it starts, daemons too: each has a cgroup of its own. Unlike the time
 * that a file takes they hardly depend on what else the machine does. `FLEXRACK_CPU=1 npm test` tells them at the end.
 * The cgroups are those of version 1's cpuacct: in version 2 a process is in one only, and runs and services go into
 * others (node/flexrack_node/process/containment.py).
 */
import {mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'

/** What belongs to no file: compilers and runners have names of their own, all else is the rest. */
const REST = 'the rest'
const LEAST_SECONDS = 1

/** From here on files are measured. Returns what tells the seconds, once. Throws where this user may make no cgroup. */
export function beginCpu(): () => string {
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find((words) => words[2] === 'cgroup' && words[3]?.split(',').includes('cpuacct'))?.[1]
  if (mount === undefined) throw new Error('FLEXRACK_CPU needs the cgroups of cpuacct, of version 1')
  const folder = join(mount, `flexrack-tests-${process.pid}`)
  mkdirSync(folder)
  process.env.FLEXRACK_CPU_GROUPS = folder
  joinCpuGroup(REST, process.pid)
  return () => {
    // It ends in the group above; a group with something in it cannot go.
    writeFileSync(join(mount, 'cgroup.procs'), String(process.pid))
    const found = readdirSync(folder, {withFileTypes: true})
      .filter((one) => one.isDirectory())
      .map(({name}) => ({name: decodeURIComponent(name), ...take(join(folder, name))}))
    remove(folder)
    return textOf(found)
  }
}

/** Counts what a process, and all that it starts from now on, takes; where nobody measures, nothing happens. */
export function joinCpuGroup(name: string, pid: number | undefined): void {
  const groups = process.env.FLEXRACK_CPU_GROUPS
  if (groups === undefined || pid === undefined) return
  const folder = join(groups, encodeURIComponent(name))
  mkdirSync(folder, {recursive: true})
  writeFileSync(join(folder, 'cgroup.procs'), String(pid))
}

interface Used {
  name: string
  seconds: number
  /** Something of it still runs. */
  isLeft: boolean
}

function take(folder: string): Omit<Used, 'name'> {
  const nanos = readFileSync(join(folder, 'cpuacct.usage'), 'utf8')
  return {seconds: Number(nanos) / 1e9, isLeft: !remove(folder)}
}

function remove(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}

function textOf(all: Used[]): string {
  const sum = all.reduce((total, {seconds}) => total + seconds, 0)
  const shown = all.filter(({seconds}) => seconds >= LEAST_SECONDS).sort((a, b) => b.seconds - a.seconds)
  return [
    `\n── CPU seconds: ${sum.toFixed(0)}`,
    ...shown.map(
      ({name, seconds, isLeft}) =>
        `${seconds.toFixed(1).padStart(8)}  ${name}${isLeft ? ' (something of it still runs)' : ''}`,
    ),
    '',
  ].join('\n')
}
