import {spawn, spawnSync} from 'node:child_process'
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {cpus, loadavg, release, totalmem} from 'node:os'
import {setTimeout as pause} from 'node:timers/promises'
import {fileURLToPath} from 'node:url'

/** One line of a result: what was measured, and against what. */
export interface Row {
  what: string
  value: number
  unit:
    | 'ns'
    | 'ms'
    | 'ms a node'
    | 's'
    | 'lines/s'
    | 'MiB/s'
    | 'MiB'
    | 'µs'
    | 'GB/s'
    | '× native'
    | '× uv alone'
    | '× Python alone'
    | '× one'
    | '%'
    | 'programs'
    | 'files'
    | 'answers'
    | 'million/s'
    | 'requests/s'
  /** The budget of docs/testing.md or the product's table; undefined: only for information. */
  bar?: number
  /** Whether a good value is under the bar or over it. */
  better?: 'lower' | 'higher'
}

export interface Result {
  name: string
  takenAt: string
  /**
   * What else the machine did: `load` is the average of the minute before, `busy` the share of all cores in use in the
   * moment before, 0 to 1. Where that is much, times are too long.
   */
  machine: {
    cores: number
    processor: string
    memoryGiB: number
    kernel: string
    node: string
    platform: string
    load: number
    busy: number
  }
  notes: string[]
  rows: (Row & {holds?: boolean})[]
}

export const root = fileURLToPath(new URL('..', import.meta.url))
const load = Math.round((loadavg()[0] ?? 0) * 10) / 10
const busy = await shareInUse(1000)
const results = fileURLToPath(new URL('results/', import.meta.url))

/**
 * Median milliseconds of each case. The cases take turns, so that what else the machine does hits all alike; one round
 * before the first counted one warms them up.
 */
export async function medians<Name extends string>(
  cases: Record<Name, () => unknown>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(cases) as Name[]
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = -1; round < rounds; round += 1) {
    for (const name of names) {
      const start = performance.now()
      await cases[name]()
      if (round >= 0) times[name].push(performance.now() - start)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<Name, number>
}

/** Runs a program to its end with nothing shown. Throws with its stderr if it fails. */
export function runProgram(words: string[], env: NodeJS.ProcessEnv = process.env): void {
  const [program, ...args] = words
  const done = spawnSync(program as string, args, {
    env,
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (done.status !== 0) throw new Error(`${words.join(' ')} ended with ${done.status ?? done.signal}: ${done.stderr}`)
}

/**
 * What a program took: milliseconds, the most memory it had at once (VmHWM, MiB), and the most files and sockets that
 * were open at a look.
 */
export interface Used {
  milliseconds: number
  memory: number
  files: number
  status: number | null
  /** stdout and stderr. */
  output: string
}

const LOOK_MS = 20

/** Runs a program to its end and watches it from outside, in /proc. Whether it failed is the caller's to judge. */
export async function watchProgram(
  words: string[],
  {env = process.env, cwd = root}: {env?: NodeJS.ProcessEnv; cwd?: string} = {},
): Promise<Used> {
  const [program, ...args] = words
  const used: Used = {milliseconds: 0, memory: 0, files: 0, status: null, output: ''}
  const started = performance.now()
  const child = spawn(program as string, args, {env, cwd, stdio: ['ignore', 'pipe', 'pipe']})
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (used.output += String(chunk)))
  const timer = setInterval(() => {
    try {
      used.files = Math.max(used.files, readdirSync(`/proc/${child.pid}/fd`).length)
      used.memory = Math.max(
        used.memory,
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
      )
    } catch {
      // it has just ended
    }
  }, LOOK_MS)
  used.status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  used.milliseconds = performance.now() - started
  clearInterval(timer)
  return used
}

/** Keeps a chart beside the results. */
export function keepChart(name: string, svg: string): void {
  mkdirSync(results, {recursive: true})
  writeFileSync(`${results}${name}.svg`, svg)
}

/** Prints the rows and keeps them in bench/results/<name>.json with the machine they were taken on. */
export function report(name: string, rows: Row[], notes: string[] = []): void {
  const rated = rows.map((row) => ({
    ...row,
    value: round(row.value),
    ...(row.bar !== undefined && {
      bar: round(row.bar),
      holds: row.better === 'higher' ? row.value >= row.bar : row.value <= row.bar,
    }),
  }))
  const result: Result = {name, takenAt: new Date().toISOString(), machine: machine(), notes, rows: rated}
  mkdirSync(results, {recursive: true})
  writeFileSync(`${results}${name}.json`, `${JSON.stringify(result, null, 2)}\n`)
  console.log(markdown(result))
}

/** One result as a Markdown table. */
export function markdown(result: Result): string {
  const cells = result.rows.map((row) => [
    row.what,
    `${row.value} ${row.unit}`,
    row.bar === undefined ? '' : `${row.better === 'higher' ? 'at least' : 'at most'} ${row.bar} ${row.unit}`,
    row.holds === undefined ? '' : row.holds ? 'holds' : 'MISSED',
  ])
  const lines = [['what', 'measured', 'bar', ''], ['---', '---:', '---', '---'], ...cells].map(
    (line) => `| ${line.join(' | ')} |`,
  )
  return [
    `## ${result.name}`,
    '',
    ...lines,
    '',
    ...[...result.notes, busyness(result)].map((note) => `${note}\n`),
  ].join('\n')
}

/** One sentence for the reader of a result. */
function busyness({machine: {load: before, busy: share, cores}}: Result): string {
  const reported = `Just before, ${Math.round(share * 100)} % of the machine's ${cores} cores were in use by others (load ${before}).`
  return share > 0.25 ? `${reported} These times are too long.` : reported
}

/** Of all cores, over so many milliseconds: 0 is idle, 1 is all in use. */
async function shareInUse(milliseconds: number): Promise<number> {
  const sum = (): {idle: number; all: number} => {
    const times = cpus().map((cpu) => cpu.times)
    return {
      idle: times.reduce((total, one) => total + one.idle, 0),
      all: times.reduce((total, one) => total + one.idle + one.user + one.sys + one.nice + one.irq, 0),
    }
  }
  const before = sum()
  await pause(milliseconds)
  const after = sum()
  const passed = after.all - before.all
  return passed > 0 ? Math.round((1 - (after.idle - before.idle) / passed) * 100) / 100 : 0
}

function machine(): Result['machine'] {
  const all = cpus()
  return {
    cores: all.length,
    processor: all[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release().replace(/-.*/, ''),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    load,
    busy,
  }
}

/** Of two in the middle, their mean. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

function round(value: number): number {
  const places = value >= 100 ? 1 : value >= 10 ? 10 : 100
  return Math.round(value * places) / places
}
