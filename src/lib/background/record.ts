import {readdir, rm, stat} from 'node:fs/promises'
import {hostname} from 'node:os'
import {join, resolve} from 'node:path'
import {
  current,
  ensurePrivateFolder,
  processIdentity,
  stamped,
  userPaths,
  writeWhole,
  type Context,
  textIfThere,
} from '../base/index.ts'

/** A command that goes on without its terminal. */
export interface Background {
  pid: number
  /** Where it runs, by name. */
  machine: string
  /**
   * `lost`: it was killed, or its machine was started anew; `elsewhere`: it is on another machine, which has the same
   * home.
   */
  state: 'running' | 'ended' | 'lost' | 'elsewhere'
  /** ISO 8601, UTC. */
  started: string
  ended: string | null
  /** The error that it ended with. */
  why: string | null
  /** The file of what it says, here or on that machine. */
  log: string
  /** It has lost what it needs, and tries to get it again; null where it has it, and of one that does not run. */
  waiting: Waiting | null
}

export interface Waiting {
  /** ISO 8601, UTC. */
  since: string
  /** The error of its last try. */
  why: string
}

/** As the file has it. */
export interface BackgroundRecord {
  /** What it is busy with, and the name of its files. */
  name: string
  project: string
  pid: number
  /** See processIdentity. */
  identity: string
  machine: string
  started: string
  ended: string | null
  why: string | null
  log: string
  /** Absent where it has what it needs. */
  waiting?: Waiting
}

/** Ended ones whose files are kept. */
const KEPT = 50
/** Names come from a node, too, and are file names here. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,149}$/

/** `log` is appended to by all that are busy with the same thing, one after the other. */
export function filesOf(name: string, {env}: Pick<Context, 'env'>): {folder: string; record: string; log: string} {
  // Absolute: whoever reads it may be in another folder.
  const folder = join(resolve(userPaths(env).state), 'background')
  if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} cannot be the name of a file`)
  return {folder, record: join(folder, `${name}.json`), log: join(folder, `${name}.log`)}
}

/** Makes the folder, and removes what is left of commands that ended long ago. */
export async function openFolder(name: string, context: Pick<Context, 'env'>): Promise<void> {
  const {folder} = filesOf(name, context)
  await ensurePrivateFolder(folder)
  const ended = (await listBackgrounds(context)).filter(
    (one) => one.state !== 'running' && one.state !== 'elsewhere' && one.name !== name,
  )
  for (const one of ended.slice(KEPT))
    for (const file of [filesOf(one.name, context).record, filesOf(one.name, context).log])
      await rm(file, {force: true})
}

export async function writeRecord(record: BackgroundRecord, context: Pick<Context, 'env'>): Promise<void> {
  await writeWhole(
    filesOf(record.name, context).record,
    `${JSON.stringify(stamped('background.command', record), null, 2)}\n`,
  )
}

/** Undefined where there is none. */
export async function readRecord(name: string, context: Pick<Context, 'env'>): Promise<BackgroundRecord | undefined> {
  if (!NAME.test(name)) return undefined
  try {
    const {record} = filesOf(name, context)
    const text = await textIfThere(record)
    return text === undefined ? undefined : current<BackgroundRecord>('background.command', JSON.parse(text), record)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** What is busy, or was, in the background with what has this name; null where nothing was. */
export async function findBackground(name: string, context: Pick<Context, 'env'>): Promise<Background | null> {
  const record = await readRecord(name, context)
  if (!record) return null
  const {pid, machine, started, ended, why, log, waiting = null} = record
  const state = await stateOf(record)
  return {
    pid,
    machine,
    state,
    started,
    ended,
    why,
    log,
    waiting: state === 'running' || state === 'elsewhere' ? waiting : null,
  }
}

/** All of them, the newest first. */
export async function listBackgrounds(
  context: Pick<Context, 'env'>,
): Promise<(Background & {name: string; project: string})[]> {
  const {folder} = filesOf('any', context)
  const names = (await readdir(folder).catch(() => []))
    .filter((one) => one.endsWith('.json'))
    .map((one) => one.slice(0, -'.json'.length))
  const found = await Promise.all(
    names.map(async (name) => {
      const [background, record] = await Promise.all([findBackground(name, context), readRecord(name, context)])
      return background && record ? [{...background, name, project: record.project}] : []
    }),
  )
  return found.flat().sort((a, b) => b.started.localeCompare(a.started))
}

/** The process itself still runs here: not another one with its pid. */
export async function isRunning({pid, identity}: Pick<BackgroundRecord, 'pid' | 'identity'>): Promise<boolean> {
  return (await processIdentity(pid)) === identity
}

async function stateOf(record: BackgroundRecord): Promise<Background['state']> {
  if (await isRunning(record)) return 'running'
  if (record.ended !== null) return 'ended'
  return record.machine === hostname() ? 'lost' : 'elsewhere'
}

/** Bytes that are in a log; 0 where there is none yet. */
export async function logSize(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}
