import {readFileSync} from 'node:fs'
import {readdir, readFile} from 'node:fs/promises'
import {setTimeout as wait} from 'node:timers/promises'
import {statFields} from '../base/index.ts'
import type {FoundProcess} from './types.ts'

interface Entry {
  pid: number
  born: string | undefined
  parent: number
  session: number
  state: string
  node: string | undefined
  command: string
}

/**
 * Every process on this machine that was started on a node of the rack `id`: it carries the rack's tag in its
 * environment, or descends from, or shares a session with, one that does. Never this process or its ancestors.
 */
export async function findProcesses(id: string, groups: {node: string; group: number}[] = []): Promise<FoundProcess[]> {
  if (process.platform !== 'linux')
    return groups
      .filter(({group}) => isGroupAlive(group))
      .map(({node, group}) => ({pid: -group, node, command: `process group ${group}`}))
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const entries = new Map<number, Entry>()
  for (const entry of await Promise.all(names.map((name) => readEntry(Number(name), id))))
    if (entry) entries.set(entry.pid, entry)
  const spared = new Set(ancestry(entries, process.pid))
  const sessions = new Map<number, string>()
  for (const one of entries.values())
    if (one.node !== undefined && one.session === one.pid) sessions.set(one.session, one.node)
  const nodeOf = (entry: Entry): string | undefined => {
    for (const pid of ancestry(entries, entry.pid)) {
      const node = entries.get(pid)?.node
      if (node !== undefined) return node
    }
    return sessions.get(entry.session)
  }
  const found: FoundProcess[] = []
  for (const entry of entries.values()) {
    if (spared.has(entry.pid) || entry.state === 'Z' || entry.state === 'X') continue
    const node = nodeOf(entry)
    if (node !== undefined) found.push({pid: entry.pid, born: entry.born, node, command: entry.command})
  }
  return found
}

/**
 * SIGTERM, then SIGKILL after the grace; looks again until none is left, because processes start others meanwhile.
 * `find` gives those to end. Returns those that survived even that (none, unless the kernel holds them).
 */
export async function endProcesses(
  find: () => Promise<FoundProcess[]>,
  graceMs: number,
): Promise<{ended: number; survived: FoundProcess[]}> {
  const seen = new Set<number>()
  const reported = new Set<number>()
  const started = Date.now()
  for (;;) {
    const alive = await find()
    for (const {pid} of alive) seen.add(pid)
    if (alive.length === 0) return {ended: seen.size, survived: []}
    const late = Date.now() - started > graceMs
    if (Date.now() - started > graceMs + 10_000) return {ended: seen.size - alive.length, survived: alive}
    for (const {pid, born} of alive) {
      if (!late && reported.has(pid)) continue
      reported.add(pid)
      if (born === undefined || bornOf(pid) === born) deliver(pid, late ? 'SIGKILL' : 'SIGTERM')
    }
    await wait(late ? 20 : 50)
  }
}

async function readEntry(pid: number, id: string): Promise<Entry | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    const fields = statFields(stat)
    const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    const variables = environ.split('\0')
    const tagged = variables.includes(`FLEXRACK_LOCAL_RACK=${id}`)
    const node = tagged
      ? (variables.find((one) => one.startsWith('FLEXRACK_NODE='))?.slice('FLEXRACK_NODE='.length) ?? '')
      : undefined
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))
      .replaceAll('\0', ' ')
      .trim()
      .slice(0, 200)
    return {
      pid,
      born: fields[19],
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      session: Number(fields[3]),
      node,
      command,
    }
  } catch {
    return undefined // ended while we looked
  }
}

/** At this moment: nothing comes between this and a signal. Undefined for one that is gone. */
function bornOf(pid: number): string | undefined {
  try {
    return statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'))[19]
  } catch {
    return undefined
  }
}

/** The process and its parents, up to but without init. */
function ancestry(entries: ReadonlyMap<number, Entry>, pid: number): number[] {
  const chain: number[] = []
  for (let at = entries.get(pid); at && at.pid > 1 && !chain.includes(at.pid); at = entries.get(at.parent))
    chain.push(at.pid)
  return chain
}

/** Nothing where it has ended already. */
export function deliver(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // ended already
  }
}

function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}
