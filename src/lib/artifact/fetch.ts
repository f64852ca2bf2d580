import {lstat, mkdir, mkdtemp, rename, rm} from 'node:fs/promises'
import {dirname, join, normalize} from 'node:path'
import {CliError} from '../base/index.ts'
import {quote, type NodeShell} from '../ssh/index.ts'
import type {Fetch, TransferOptions, Unpacked} from './types.ts'
import {unpackFiles} from './unpack.ts'

/**
 * Brings files and folders from a node. They come into a draft beside and are renamed one path at a time when all of
 * them are whole. Errors: NOT_FOUND names the paths that are not there, NODE_UNREACHABLE when the connection is lost,
 * REMOTE_FAILED, INTERRUPTED.
 */
export async function fetchPaths(shell: NodeShell, fetch: Fetch, options: TransferOptions = {}): Promise<Unpacked> {
  const paths = fetch.paths.map((path) => path.replace(/\/+$/, ''))
  for (const path of paths) {
    const clean = normalize(path)
    if (clean.startsWith('/') || clean === '..' || clean.startsWith('../'))
      throw new CliError('USAGE', `${path} is not below ${fetch.folder}`)
  }
  await mkdir(fetch.target, {recursive: true})
  const draft = await mkdtemp(join(fetch.target, '.part-'))
  try {
    const unpacked = await receive(shell, fetch.folder, paths, draft, options)
    for (const path of paths) await place(join(draft, path), join(fetch.target, path))
    return unpacked
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

async function receive(
  shell: NodeShell,
  folder: string,
  paths: string[],
  draft: string,
  options: TransferOptions,
): Promise<Unpacked> {
  const process = await shell.spawn(fetchScript(folder, paths), options.signal ? {signal: options.signal} : {})
  process.stdin.end()
  let stderr = ''
  process.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4000)))
  const [unpacking, ending] = await Promise.allSettled([unpackFiles(process.stdout, draft, options), process.exit])
  if (options.signal?.aborted)
    throw new CliError('INTERRUPTED', `the transfer from ${shell.node} was interrupted`, {details: {node: shell.node}})
  if (ending.status === 'rejected') throw ending.reason
  if (ending.value.status === MISSING) {
    const missing = stderr.trim().split('\n')
    throw new CliError('NOT_FOUND', `${shell.node} has no ${missing.join(', ')} in ${folder}`, {
      details: {node: shell.node, folder, missing},
    })
  }
  if (ending.value.status !== 0) {
    throw new CliError('REMOTE_FAILED', `files in ${folder} could not be read on ${shell.node}`, {
      details: {node: shell.node, folder, ...ending.value, stderr: stderr.trim()},
    })
  }
  if (unpacking.status === 'rejected') throw unpacking.reason
  return unpacking.value
}

const MISSING = 44

/** One line of stderr for each path that is missing, and a status of its own; else the tar stream. */
export function fetchScript(folder: string, paths: string[]): string {
  const names = quote(paths.map((path) => `./${path}`))
  return `cd ${quote([folder])} || exit 1
m=0
for p in ${names}; do [ -e "$p" ] || [ -h "$p" ] || { printf '%s\\n' "\${p#./}" >&2; m=${MISSING}; }; done
[ $m = 0 ] || exit $m
exec tar -cf - -- ${names}
`
}

/** Renames over whatever is there; a folder in the way is replaced as a whole. */
async function place(from: string, to: string): Promise<void> {
  if (
    !(await lstat(from).then(
      () => true,
      () => false,
    ))
  )
    return // a link that was refused
  await mkdir(dirname(to), {recursive: true})
  const old = `${to}.old-${process.pid}`
  const isThere = await rename(to, old).then(
    () => true,
    () => false,
  )
  try {
    await rename(from, to)
  } catch (error) {
    if (isThere) await rename(old, to)
    throw error
  }
  if (isThere) await rm(old, {recursive: true, force: true})
}
