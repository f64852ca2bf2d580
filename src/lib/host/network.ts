import {join} from 'node:path'
import {CliError, isCliError, type Context} from '../base/index.ts'
import {bundledWheels, indexWithinReach, openDownloads, TRACKER, type Downloads} from '../downloads/index.ts'
import type {DownloadWay} from '../protocol/index.ts'
import {programFolder} from './program.ts'
import {openSharing} from './sharing.ts'
import type {Host} from './types.ts'

interface Wanted {
  requirements: string
  constraints?: string
  python?: string
  together?: boolean
}

/**
 * Asks a node for something that it may have to download: through this machine, or from its bundles, where the rack
 * file says so, and only meanwhile. Otherwise, where the node reaches no index and this machine does, the error says
 * how it would work.
 */
export async function withDownloads<T>(
  host: Host,
  input: Wanted,
  context: Context,
  ask: (way: {download?: DownloadWay}) => Promise<T>,
): Promise<T> {
  const reader = join(programFolder(import.meta.dirname), 'workspace', 'pip_settings.py')
  const {way, hosts} = host.network ?? {way: 'direct', hosts: []}
  if (way === 'direct') {
    return ask({}).catch(async (error: unknown) => {
      throw isUnreached(error) ? await offer(error, host, reader, context) : error
    })
  }
  const bundled = way === 'bundle'
  if (bundled) await needBundle(host, input, context)
  const peer = input.together ? TRACKER.join() : undefined
  const downloads = await openDownloads(
    host.shell,
    {
      ...(peer && {peer}),
      texts: [input.requirements, input.constraints ?? ''],
      pythons: input.python !== undefined,
      more: hosts,
      bundled,
      reader,
    },
    context,
  )
  const sharing = peer && (await openSharing(host, peer, downloads.way, context))
  try {
    return await ask({download: sharing?.way ?? downloads.way})
  } catch (error) {
    throw isCliError(error, 'ENVIRONMENT_FAILED') ? (bundled ? fromBundle(error) : explain(error, downloads)) : error
  } finally {
    await sharing?.close()
    await downloads.close()
  }
}

function isUnreached(error: unknown): error is CliError {
  return isCliError(error, 'ENVIRONMENT_FAILED') && error.details.unreachable === true
}

async function offer(error: CliError, {node}: Host, reader: string, context: Context): Promise<CliError> {
  const index = await indexWithinReach(reader, context).catch(() => undefined) // what failed there says more
  if (index === undefined && (await bundledWheels(context.env)).length > 0) {
    return again(
      error,
      error.message,
      `a bundle was applied on this machine: write \`network: bundle\` for ${node} into the rack file, and its packages come from there`,
    )
  }
  if (index === undefined) return error
  return again(
    error,
    error.message,
    `this machine reaches ${index}: write \`network: through-client\` for ${node} into the rack file, and its packages come through the SSH connection`,
  )
}

function explain(error: CliError, {refused, unreachable}: Downloads): CliError {
  const [asked] = refused
  if (asked !== undefined) {
    const message = `${error.message.replace(/: the package index cannot be reached from this node$/, '')}: it asked for ${asked}, which no setting here names`
    return again(
      error,
      message,
      `if it is right, write \`network_hosts: [${asked.replace(/:(443|80)$/, '')}]\` into the rack file`,
      {refused: [...refused]},
    )
  }
  const [missed] = unreachable
  if (missed === undefined || !isUnreached(error)) return error
  return again(
    error,
    `${error.message.replace(/ from this node$/, '')}: this machine does not reach ${missed[0]} either (${missed[1]})`,
    'set PIP_INDEX_URL here to an index that this machine reaches',
  )
}

function fromBundle(error: CliError): CliError {
  const {python} = error.details
  if (typeof python === 'string')
    return again(
      error,
      `${error.message}: the bundles that were applied on this machine have none for it`,
      'flexrack bundle create, where there is internet: it brings the Pythons that are asked for and that --python does not name',
    )
  return again(
    error,
    error.message,
    error.hint ??
      'the bundles that were applied on this machine may lack it: flexrack bundle create, where there is internet',
  )
}

/** Before anything is tried: it would end with pip, minutes later. What is on the node already needs no bundle. */
async function needBundle(
  host: Host,
  {requirements, constraints, python}: Wanted,
  {env, signal}: Context,
): Promise<void> {
  if ((requirements.trim() === '' && python === undefined) || (await bundledWheels(env)).length > 0) return
  const {ready} = await host.call(
    'environment.plan',
    {requirements, ...(constraints !== undefined && {constraints}), ...(python !== undefined && {python})},
    {signal},
  )
  if (!ready)
    throw new CliError(
      'NOT_FOUND',
      `no bundle was applied on this machine, and ${host.node} gets its packages from one`,
      {hint: 'flexrack bundle apply FILE', details: {node: host.node}},
    )
}

function again(error: CliError, message: string, hint: string, more: Record<string, unknown> = {}): CliError {
  return new CliError('ENVIRONMENT_FAILED', message, {hint, details: {...error.details, ...more}, cause: error})
}
