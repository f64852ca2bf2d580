import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {stringify} from 'yaml'
import {CliError, ensurePrivateFolder, isCliError, writeWhole, type Context} from '../base/index.ts'
import {connectHead, type HeadConnection} from '../head/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {DASHBOARDS, dashboardJson} from './dashboards.ts'
import {nodeTargets, prometheusYaml, timedTargets, type MonitoredHead} from './prometheus.ts'
import {rulesYaml} from './rules.ts'

/** What was written. */
export interface EmittedMonitor {
  folder: string
  /** Below the folder. */
  files: string[]
  /** Whether the head is watched, too; `why` it is not. */
  head: {target: string} | {target: null; why: string}
}

/** Where Grafana is told to find Prometheus; its data source can be edited. */
const PROMETHEUS = 'http://127.0.0.1:9090'

/** Only a call of this command leaves it: by it a folder is known again. */
const RULES = 'rules/flexrack.yml'

/** All files but the head's secrets, by their paths. Pure. */
export function monitorFiles(rack: Rack, head: MonitoredHead | undefined): Map<string, string> {
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
  return new Map([
    ['prometheus.yml', prometheusYaml(rack, head)],
    ['targets/nodes.json', json(nodeTargets(rack))],
    [RULES, rulesYaml()],
    [
      'grafana/provisioning/datasources/flexrack.yml',
      stringify({
        apiVersion: 1,
        datasources: [{name: 'Prometheus', type: 'prometheus', access: 'proxy', url: PROMETHEUS, editable: true}],
      }),
    ],
    [
      'grafana/provisioning/dashboards/flexrack.yml',
      stringify({
        apiVersion: 1,
        providers: [{name: 'flexrack', folder: 'Flexrack', type: 'file', options: {path: '/var/lib/grafana/flexrack'}}],
      }),
    ],
    ...DASHBOARDS.map((one): [string, string] => [`grafana/dashboards/${one.uid}.json`, json(dashboardJson(one))]),
  ])
}

/**
 * Writes them into a folder that this account alone can read, for the head's token is among them: it opens the head's
 * numbers and nothing else, and one that an earlier call of this name has made ends. A head that does not run is left out.
 * Errors: those of requireOwnFolder and of the connection.
 */
export async function emitMonitor(
  {rack, fleet}: {rack: Rack; fleet: Fleet},
  {folder, name}: {folder: string; name: string},
  context: Context,
): Promise<EmittedMonitor> {
  await requireOwnFolder(folder)
  const {head, why} = await openHead(rack, fleet, context)
  try {
    const target = head && new URL(head.nodeUri).host
    const files = monitorFiles(rack, target === undefined ? undefined : {target})
    await ensurePrivateFolder(folder)
    if (head) {
      const {token} = await head.request<{token: string}>('POST', '/flexrack/v1/tokens', {
        kind: 'metrics',
        name,
        targets: timedTargets(rack),
      })
      files.set('head.token', token)
      files.set('head.pem', head.ca)
    }
    for (const [path, text] of files) {
      const file = join(folder, path)
      await ensurePrivateFolder(join(file, '..'))
      await writeWhole(file, text)
    }
    return {
      folder,
      files: [...files.keys()].toSorted(),
      head: target === undefined ? {target: null, why: why ?? 'it does not run'} : {target},
    }
  } finally {
    await head?.close()
  }
}

/**
 * The folder becomes this account's alone, and files in it are replaced: that is nothing for /etc/prometheus, a project or
 * a home. Errors: CONFLICT where it has files of others, or is none.
 */
export async function requireOwnFolder(folder: string): Promise<void> {
  const hint = '--to NEW_FOLDER'
  try {
    if ((await readdir(folder)).length === 0 || existsSync(join(folder, RULES))) return
    throw new CliError('CONFLICT', `${folder} has other files, and monitor emit wants a folder of its own`, {hint})
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') throw new CliError('CONFLICT', `${folder} is no folder`, {hint, cause: error})
    if (code !== 'ENOENT') throw error
  }
}

/** Ends the token that emitMonitor made for this name. Errors: those of the connection. */
export async function revokeMonitor(
  {rack, fleet}: {rack: Rack; fleet: Fleet},
  name: string,
  context: Context,
): Promise<{name: string}> {
  const head = await connectHead(rack, fleet, context)
  try {
    await head.request('DELETE', `/flexrack/v1/monitors/${encodeURIComponent(name)}`)
    return {name}
  } finally {
    await head.close()
  }
}

async function openHead(
  rack: Rack,
  fleet: Fleet,
  context: Context,
): Promise<{head: HeadConnection | undefined; why?: string}> {
  try {
    return {head: await connectHead(rack, fleet, context)}
  } catch (error) {
    if (!isCliError(error, 'NOT_FOUND')) throw error
    return {head: undefined, why: error.message}
  }
}
