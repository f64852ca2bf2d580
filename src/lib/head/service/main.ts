import {readFile} from 'node:fs/promises'
import {isIPv6} from 'node:net'
import {join} from 'node:path'
import {current} from '../../base/index.ts'
import type {ListenerRecord} from '../../protocol/index.ts'
import {HEAD_FILES, type ServiceConfig} from '../types.ts'
import {Audit} from './audit/audit.ts'
import {Claims} from './claims/claims.ts'
import {Quotas} from './claims/quotas.ts'
import {Holdings} from './holdings/holdings.ts'
import {buildServer} from './server.ts'
import {Clients} from './tokens/clients.ts'
import {Grpc} from './grpc/server.ts'
import {readDurable, writeDurably} from './files/durable.ts'
import {watchTokens} from './tokens/expiry.ts'
import {ownFolder} from './files/folder.ts'
import {renameFormerFiles} from './files/former-names.ts'
import {askLeader} from './joint/ask.ts'
import {watchPromises} from './joint/api.ts'
import {watchArtifacts} from './holdings/artifacts.ts'
import {Promises} from './joint/promises.ts'
import {makeLimits} from './limits/limits.ts'
import {Listeners} from './tls/listeners.ts'
import {Locks} from './documents/locks.ts'
import {logLine} from './log.ts'
import {MlflowServer} from './tracking/mlflow.ts'
import {ownNames} from './tls/names.ts'
import type {Parts} from './parts.ts'
import {Ui} from './page/ui.ts'
import {PendingConnections} from './limits/pending-connections.ts'
import {openQueues} from './queue/open.ts'
import {Measures} from './releases/measures.ts'
import {watchCanaries} from './releases/judge.ts'
import {Shadows} from './releases/shadow.ts'
import {Samples} from './sampling/samples.ts'
import {Scaler, watchDemand} from './scaling/scaler.ts'
import {Deposing} from './standby/deposing.ts'
import {openStores} from './stores.ts'

/** The head's process: `node head-service.mjs <config.json>`. Ends on SIGTERM, answers under way first. */
const DRAIN_MS = 10_000

async function main(configFile: string): Promise<void> {
  process.umask(0o077)
  const config = current<ServiceConfig>('head.config', JSON.parse(await readFile(configFile, 'utf8')), configFile)
  await ownFolder(config.folder)
  await renameFormerFiles(config.folder)
  const stores = await openStores(config)
  const mlflow = await MlflowServer.prepare(config, () => stores.people.hasWorkspaces)
  const {tokens, authority, following} = stores
  let listener: ListenerRecord = {pid: process.pid, address: nearAddress(config.bind), port: 0, plainPort: 0, url: ''}
  const measures = new Measures()
  const quotas = await Quotas.open(config.folder)
  const holdings = await Holdings.open(config.folder, quotas)
  const queued = openQueues(stores)
  const parts: Parts = {
    config,
    ...stores,
    clients: new Clients(tokens),
    quotas,
    claims: await Claims.open(config.folder, {tokens, quotas, beside: () => holdings.all}),
    holdings,
    audit: await Audit.open(config.folder),
    locks: await Locks.open(config.folder),
    promises: await Promises.open(config.folder, stores.endpoints, askLeader),
    ...queued,
    measures,
    shadows: new Shadows(),
    samples: new Samples(),
    scaler: await Scaler.open(config.folder, {...stores, measures, ...queued}),
    mlflow,
    ui: new Ui(),
    limits: makeLimits(config),
    pending: new PendingConnections(),
    startedAt: Date.now(),
    url: () => listener.url,
    port: () => listener.port,
  }
  const listeners = new Listeners(
    await buildServer(
      parts,
      await authority.leaf('listener', {name: 'flexrack head', names: ownNames(config), usage: 'server'}),
    ),
    parts.pending,
    new Grpc(parts, () => `http://127.0.0.1:${listener.plainPort}`),
  )
  // Listening comes first: a second head on the same port must not touch the store of the first.
  const last = await readDurable<Partial<ListenerRecord>>('head.listener', join(config.folder, HEAD_FILES.listener), {})
  const {port, plainPort} = await listeners.open(config, last)
  listener = {
    ...listener,
    port,
    plainPort,
    url: config.url?.replace(/\/$/, '') ?? `https://${hostOf(config.host ?? config.bind)}:${port}`,
  }
  listeners.keepCertified(authority, config)
  if (following) {
    following.whenRenewed((identity) => listeners.show(identity))
    following.start(parts.url)
  }
  // What is decided is decided by one head.
  const unwatch = following ? [() => void following.end()] : await decide(parts)
  await writeDurably('head.listener', join(config.folder, HEAD_FILES.listener), listener)
  logLine(
    `the ${following ? 'standby' : 'head'} of flexrack ${config.version} listens on ${config.bind}:${port} with TLS, on 127.0.0.1:${plainPort} without`,
  )

  const stepDown = (): void => {
    for (const end of unwatch.splice(0)) end()
    void mlflow.stop()
  }
  let ending = false
  const end = async (signal: string): Promise<void> => {
    if (ending) return
    ending = true
    logLine(`${signal}: ending`)
    for (const end of unwatch) end()
    parts.ui.end()
    const hard = setTimeout(() => listeners.cut(), DRAIN_MS)
    await listeners.close()
    clearTimeout(hard)
    await mlflow.stop()
    await parts.audit.close()
    logLine('ended')
    process.exit(0)
  }
  parts.superseded.whenSo(stepDown)
  parts.superseded.whenOver(() => void end('the head again'))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal))
}

/** What a head does by itself, unless it has stepped down; with what ends it. */
async function decide(parts: Parts): Promise<(() => void)[]> {
  if (parts.superseded.record) return []
  parts.mlflow.start()
  const deposing = await Deposing.open(parts.config.folder)
  deposing?.start(parts.url)
  return [
    watchTokens(parts),
    watchCanaries(parts),
    watchDemand(parts),
    watchPromises(parts),
    watchArtifacts(parts),
    () => deposing?.end(),
  ]
}

/** Who listens on all addresses listens on loopback, too. */
function nearAddress(bind: string): string {
  return {'0.0.0.0': '127.0.0.1', '::': '::1'}[bind] ?? bind
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
  logLine(
    error.code === 'EADDRINUSE'
      ? `the port is in use: ${error.message}`
      : `cannot start: ${error.stack ?? String(error)}`,
  )
  process.exit(1)
})
