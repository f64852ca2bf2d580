import {join} from 'node:path'
import {CliError, isCliError, type Context} from '../base/index.ts'
import {indexWithinReach, openDownloads, type Downloads} from '../downloads/index.ts'
import type {DownloadWay} from '../protocol/index.ts'
import {programFolder} from './program.ts'
import type {Host} from './types.ts'

/**
 * Asks a node for something that it may have to download: through this machine where the rack file says so, and only meanwhile. Otherwise, where the
 * node reaches no index and this machine does, the error says how it would work.
 */
export async function withDownloads<T>(host: Host, {requirements, constraints, pins}: {requirements: string; constraints?: string; pins?: string}, context: Context, ask: (way: {download?: DownloadWay}) => Promise<T>): Promise<T> {
  const reader = join(programFolder(import.meta.dirname), 'workspace', 'pip_settings.py')
  if (!host.network?.throughClient) {
    return ask({}).catch(async (error: unknown) => {
      throw isUnreached(error) ? await offer(error, host, reader, context) : error
    })
  }
  const downloads = await openDownloads(host.shell, {texts: [requirements, constraints ?? '', pins ?? ''], more: host.network.hosts, reader}, context)
  try {
    return await ask({download: downloads.way})
  } catch (error) {
    throw isCliError(error, 'ENVIRONMENT_FAILED') ? explain(error, downloads) : error
  } finally {
    await downloads.close()
  }
}

function isUnreached(error: unknown): error is CliError {
  return isCliError(error, 'ENVIRONMENT_FAILED') && error.details.unreachable === true
}

async function offer(error: CliError, {node}: Host, reader: string, context: Context): Promise<CliError> {
  const index = await indexWithinReach(reader, context)
  if (index === undefined) return error
  return again(error, error.message, `this machine reaches ${index}: write \`network: through-client\` for ${node} into the rack file, and its packages come through the SSH connection`)
}

function explain(error: CliError, {refused, unreachable}: Downloads): CliError {
  const [asked] = refused
  if (asked !== undefined) {
    const message = `${error.message.replace(/: the package index cannot be reached from this node$/, '')}: it asked for ${asked}, which no setting here names`
    return again(error, message, `if it is right, write \`network_hosts: [${asked.replace(/:(443|80)$/, '')}]\` into the rack file`, {refused: [...refused]})
  }
  const [missed] = unreachable
  if (missed === undefined) return error
  return again(error, `${error.message.replace(/ from this node$/, '')}: this machine does not reach ${missed[0]} either (${missed[1]})`, 'set PIP_INDEX_URL here to an index that this machine reaches')
}

function again(error: CliError, message: string, hint: string, more: Record<string, unknown> = {}): CliError {
  return new CliError('ENVIRONMENT_FAILED', message, {hint, details: {...error.details, ...more}, cause: error})
}
