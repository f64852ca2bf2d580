import {spawnSync} from 'node:child_process'
import {mkdirSync, writeFileSync} from 'node:fs'
import {cpus, loadavg, totalmem} from 'node:os'
import {fileURLToPath} from 'node:url'

/** One line of a result: what was measured, and against what. */
export interface Row {
  what: string
  value: number
  unit: 'ms' | 's' | 'lines/s' | 'MiB/s' | 'MiB'
  /** The budget of docs/testing.md or the product's table; undefined: only for information. */
  bar?: number
  /** Whether a good value is under the bar or over it. */
  better?: 'lower' | 'higher'
}

export interface Result {
  name: string
  takenAt: string
  /** `load`: what else the machine did, as the load average of the minute before; with more than its cores, times are too long. */
  machine: {cores: number; processor: string; memoryGiB: number; node: string; platform: string; load: number}
  notes: string[]
  rows: (Row & {holds?: boolean})[]
}

export const root = fileURLToPath(new URL('..', import.meta.url))
const load = Math.round((loadavg()[0] ?? 0) * 10) / 10
const results = fileURLToPath(new URL('results/', import.meta.url))

/**
 * Median milliseconds of each case. The cases take turns, so that what else the machine does hits all alike; one round
 * before the first counted one warms them up.
 */
export async function medians<Name extends string>(cases: Record<Name, () => unknown>, rounds: number): Promise<Record<Name, number>> {
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
  const done = spawnSync(program as string, args, {env, cwd: root, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8'})
  if (done.status !== 0) throw new Error(`${words.join(' ')} ended with ${done.status ?? done.signal}: ${done.stderr}`)
}

/** Prints the rows and keeps them in bench/results/<name>.json with the machine they were taken on. */
export function report(name: string, rows: Row[], notes: string[] = []): void {
  const judged = rows.map((row) => ({...row, value: round(row.value), ...(row.bar !== undefined && {holds: row.better === 'higher' ? row.value >= row.bar : row.value <= row.bar})}))
  const result: Result = {name, takenAt: new Date().toISOString(), machine: machine(), notes, rows: judged}
  mkdirSync(results, {recursive: true})
  writeFileSync(`${results}${name}.json`, `${JSON.stringify(result, null, 2)}\n`)
  console.log(markdown(result))
}

/** One result as a Markdown table. */
export function markdown(result: Result): string {
  const cells = result.rows.map((row) => [row.what, `${row.value} ${row.unit}`, row.bar === undefined ? '' : `${row.better === 'higher' ? 'at least' : 'at most'} ${row.bar} ${row.unit}`, row.holds === undefined ? '' : row.holds ? 'holds' : 'MISSED'])
  const lines = [['what', 'measured', 'bar', ''], ['---', '---:', '---', '---'], ...cells].map((line) => `| ${line.join(' | ')} |`)
  return [`## ${result.name}`, '', ...lines, '', ...result.notes.map((note) => `${note}\n`)].join('\n')
}

function machine(): Result['machine'] {
  const all = cpus()
  return {
    cores: all.length,
    processor: all[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    load,
  }
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 10) / 10
}
