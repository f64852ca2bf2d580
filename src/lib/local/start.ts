import {spawn} from 'node:child_process'
import {open, readFile, rename, stat} from 'node:fs/promises'
import {join, resolve as absolute} from 'node:path'
import {CliError, ownRoot, runsFromSources, userPaths, type Context} from '../base/index.ts'
import {starterSettings, type StarterSettings} from './environment.ts'
import type {LocalLayout} from './layout.ts'

/** What the background process is told, besides what is in the rack's folder. */
export interface DaemonSettings extends StarterSettings {
  owner?: number
}

const READY_MS = 30_000
/** Bytes; then a new one is begun, and one old one is kept. */
const MAX_LOG = 1_000_000
const DAEMON = runsFromSources ? 'src/lib/local/daemon.ts' : 'dist/lib/local/daemon.js'

/**
 * Starts the background process and waits until it answers. It has its own session, so that it outlives the terminal,
 * and an environment of its own, so that it keeps nothing of the user's secrets. Throws NODE_UNFIT with the end of
 * its log.
 */
export async function startDaemon(
  layout: LocalLayout,
  id: string,
  owner: number | undefined,
  ctx: Context,
): Promise<void> {
  const settings: DaemonSettings = {...starterSettings(ctx.env), ...(owner !== undefined && {owner})}
  if (((await stat(layout.log).catch(() => undefined))?.size ?? 0) > MAX_LOG)
    await rename(layout.log, `${layout.log}.1`)
  const log = await open(layout.log, 'a', 0o600)
  const {size: logStart} = await log.stat()
  try {
    const env: NodeJS.ProcessEnv = {
      ...settings.base,
      ...pathsOf(ctx.env),
      NODE_COMPILE_CACHE: ctx.env.NODE_COMPILE_CACHE || join(userPaths(ctx.env).cache, 'compiled'),
      FLEXRACK_LOCAL_DAEMON: JSON.stringify(settings),
    }
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(ownRoot(), DAEMON), id], {
      cwd: layout.folder,
      detached: true,
      env,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    })
    let timer: NodeJS.Timeout | undefined
    const ready = await new Promise<boolean>((resolve) => {
      child.once('message', () => resolve(true))
      child.once('exit', () => resolve(false))
      child.once('error', () => resolve(false))
      timer = setTimeout(() => resolve(false), READY_MS)
    })
    clearTimeout(timer)
    if (!ready) {
      child.kill('SIGKILL')
      const text = (await readFile(layout.log)).subarray(logStart).toString()
      throw new CliError('NODE_UNFIT', `the local rack's background process did not start; its log is ${layout.log}`, {
        details: {log: text.trim().split('\n').slice(-10)},
        hint: 'flexrack local up',
      })
    }
    if (child.connected) child.disconnect()
    child.unref()
  } finally {
    await log.close()
  }
}

/** What decides where the rack's files are. */
function pathsOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['HOME', 'FLEXRACK_HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'TMPDIR']
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, absolute(env[name])]] : [])))
}
