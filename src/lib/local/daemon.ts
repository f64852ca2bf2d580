// The local rack's background process: node daemon.ts FOLDER-OF-THE-USER'S-PATHS is started by start.ts and by nobody
// else.
import {appendFileSync, closeSync, readdirSync, readFileSync} from 'node:fs'
import {rm, stat} from 'node:fs/promises'
import {userInfo} from 'node:os'
import {controlPath, serveControl} from './control.ts'
import {current, ensurePrivateFolder, stamped} from '../base/index.ts'
import {isAlive} from './alive.ts'
import {ensureKey} from '../ssh/index.ts'
import {localLayout} from './layout.ts'
import {loginShell} from './environment.ts'
import {endRackProcesses} from './rack-processes.ts'
import {PipePool} from './pipes.ts'
import type {DaemonSettings} from './start.ts'
import {startNodeServer, type NodeServer} from './server.ts'
import type {DaemonState, LocalNode, LocalRack} from './types.ts'

const HIGHEST_OWN_FD = 48
const WATCH_MS = 30_000
const OWNER_MS = 2000
const settings = JSON.parse(process.env.FLEXRACK_LOCAL_DAEMON ?? '{}') as DaemonSettings
const layout = localLayout(process.env)
const rack = current<LocalRack>('local.rack', JSON.parse(readFileSync(layout.rack, 'utf8')), layout.rack)
const startedAt = new Date().toISOString()
let maxSessions = rack.maxSessions
const servers = new Map<string, NodeServer>()
const shell = loginShell()
const pipes = new PipePool(layout.pipes)
const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`)

/** Starts and ends servers until there is one for each of the wanted nodes. */
async function applyNodes(wanted: LocalNode[]): Promise<void> {
  const allowedKey = await ensureKey(layout.identity, 'flexrack local rack')
  const names = new Set(wanted.map((node) => node.name))
  await Promise.all(
    [...servers]
      .filter(([name]) => !names.has(name))
      .map(async ([name, server]) => {
        servers.delete(name)
        await server.close()
      }),
  )
  for (const node of wanted) {
    if (servers.has(node.name)) continue
    servers.set(node.name, await startServer(node, allowedKey))
  }
}

async function startServer(node: LocalNode, allowedKey: string): Promise<NodeServer> {
  const places = layout.node(node.name)
  await ensurePrivateFolder(places.folder)
  await ensurePrivateFolder(places.home)
  await ensureKey(places.hostKey, node.name)
  const user = userInfo().username
  return startNodeServer({
    name: node.name,
    port: node.port,
    hostKey: readFileSync(places.hostKey, 'utf8'),
    allowedKey,
    user,
    home: places.home,
    shell,
    python: settings.python,
    pipes,
    maxSessions: () => maxSessions,
    env: {
      ...settings.base,
      HOME: places.home,
      USER: user,
      LOGNAME: user,
      SHELL: shell,
      FLEXRACK_NODE: node.name,
      FLEXRACK_LOCAL_RACK: rack.id,
    },
    log: (line) => log(`${node.name}: ${line}`),
    started: (group) => recordGroup(node.name, group),
  })
}

/** Where processes cannot be found by their environment, `local down` ends the groups that were started. */
function recordGroup(node: string, group: number): void {
  if (process.platform !== 'linux')
    appendFileSync(layout.groups, `${JSON.stringify(stamped('local.group', {node, group}))}\n`, {mode: 0o600})
}

function state(): DaemonState {
  return {
    pid: process.pid,
    id: rack.id,
    startedAt,
    nodes: [...servers].map(([name, server]) => ({name, port: server.port})),
    connections: [...servers.values()].reduce((sum, server) => sum + server.connections(), 0),
    memory: process.memoryUsage.rss(),
  }
}

async function stop(): Promise<void> {
  log('stopping')
  await Promise.all([...servers.values()].map((server) => server.close()))
  control.close()
  pipes.close()
  await rm(controlPath(layout.folder), {force: true})
}

/**
 * Open files of whoever started us: a pipe among them would keep its reader waiting as long as the rack is up. Node
 * takes care of the low numbers, and its own are the lowest that were free.
 */
function closeInherited(): void {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      if (Number(name) > HIGHEST_OWN_FD) closeSync(Number(name))
    } catch {
      // the descriptor of the listing itself
    }
  }
}

/** The process that wanted this rack for itself has died: nobody will take it down. */
async function endOrphaned(): Promise<void> {
  log('the owner is gone')
  await endRackProcesses(layout, rack, 2000).catch((error: Error) => log(error.message))
  await stop()
  process.exit(0)
}

closeInherited()
// Sessions get the umask of a standard server; our own files say their mode each.
process.umask(0o022)
process.on('SIGHUP', () => {})
process.on('uncaughtException', (error) => log(`bug: ${error.stack ?? error.message}`))
process.on('unhandledRejection', (error) =>
  log(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
)
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => void stop().finally(() => process.exit(0)))

let turn: Promise<unknown> = Promise.resolve()
const control = await serveControl(controlPath(layout.folder), async (request) => {
  if (request.ask === 'nodes') {
    maxSessions = request.maxSessions
    // One after the other: two commands must not start the same server twice.
    turn = turn.catch(() => {}).then(() => applyNodes(request.nodes))
    await turn
  }
  if (request.ask === 'stop') setImmediate(() => void stop().finally(() => process.exit(0)))
  return state()
})

const own = await stat(controlPath(layout.folder))
// A rack that was removed by hand, or replaced, must not stay here unseen.
setInterval(() => {
  stat(controlPath(layout.folder)).then(
    (found) => found.ino !== own.ino && process.exit(0),
    () => process.exit(0),
  )
}, WATCH_MS)
const {owner} = settings
if (owner !== undefined) {
  const watch = setInterval(() => {
    if (isAlive(owner)) return
    clearInterval(watch)
    void endOrphaned()
  }, OWNER_MS)
}

log(`started, pid ${process.pid}`)
process.send?.({ready: true})
process.disconnect?.()
