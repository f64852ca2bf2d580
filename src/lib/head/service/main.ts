import {mkdir, readFile} from 'node:fs/promises'
import {isIPv6} from 'node:net'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import type {FastifyInstance} from 'fastify'
import {HEAD_FILES, type DoorRecord, type ServiceConfig} from '../types.ts'
import {buildDoor} from './door.ts'
import {readDurable, writeDurably} from './durable.ts'
import {Endpoints} from './endpoints.ts'
import {watchTokens} from './expiry.ts'
import {Locks} from './locks.ts'
import {logLine} from './log.ts'
import {MlflowServer} from './mlflow.ts'
import type {Parts} from './parts.ts'
import {Tokens} from './tokens.ts'
import {Traffic} from './traffic.ts'

/** The head's process: `node head-service.mjs <config.json>`. Ends on SIGTERM, answers under way first. */
const DRAIN_MS = 10_000
const PORT_PATIENCE_MS = 5000
const LISTEN_PAUSE_MS = 200

async function main(configFile: string): Promise<void> {
  process.umask(0o077)
  const config = JSON.parse(await readFile(configFile, 'utf8')) as ServiceConfig
  await mkdir(config.folder, {recursive: true, mode: 0o700})
  const mlflow = await MlflowServer.prepare(config)
  let door: DoorRecord = {pid: process.pid, port: 0, url: ''}
  const parts: Parts = {
    config,
    tokens: await Tokens.open(config.folder),
    locks: await Locks.open(config.folder),
    endpoints: await Endpoints.open(config.folder),
    traffic: new Traffic(),
    mlflow,
    startedAt: Date.now(),
    url: () => door.url,
    port: () => door.port,
  }
  const app = await buildDoor(parts)
  // Listening comes first: a second head on the same port must not touch the store of the first.
  const last = await readDurable<Partial<DoorRecord>>(join(config.folder, HEAD_FILES.door), {})
  await listen(app, config, last.port ?? 0)
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : config.port
  door = {pid: process.pid, port, url: config.url?.replace(/\/$/, '') ?? `http://${hostOf(config.host ?? config.bind)}:${port}`}
  mlflow.start()
  const unwatch = watchTokens(parts)
  await writeDurably(join(config.folder, HEAD_FILES.door), door)
  logLine(`the door of flexrack ${config.version} listens on ${config.bind}:${port}`)

  let ending = false
  const end = async (signal: string): Promise<void> => {
    if (ending) return
    ending = true
    logLine(`${signal}: ending`)
    unwatch()
    const hard = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await app.close()
    clearTimeout(hard)
    await mlflow.stop()
    logLine('ended')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal))
}

/**
 * On the port of the rack file, or else on that of the last start, which runs under way know. One that was left by a
 * head that is just ending comes free in a moment; where another program has it by now, any port is better than none.
 */
async function listen(app: FastifyInstance, config: ServiceConfig, lastPort: number): Promise<void> {
  const until = Date.now() + PORT_PATIENCE_MS
  for (let port = config.port || lastPort; ; ) {
    try {
      return void (await app.listen({host: config.bind, port}))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      if (Date.now() < until) await pause(LISTEN_PAUSE_MS)
      else if (config.port) throw error
      else {
        logLine(`port ${lastPort} is in use by another program: taking another port`)
        port = 0
      }
    }
  }
}

function hostOf(address: string): string {
  return isIPv6(address) ? `[${address}]` : address
}

const configFile = process.argv[2]
if (configFile === undefined) {
  logLine('usage: head-service CONFIG')
  process.exit(2)
}
main(configFile).catch((error: NodeJS.ErrnoException) => {
  logLine(error.code === 'EADDRINUSE' ? `the port is in use: ${error.message}` : `cannot start: ${error.stack ?? String(error)}`)
  process.exit(1)
})
