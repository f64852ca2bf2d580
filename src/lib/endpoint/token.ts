import {chmod, mkdir, readFile, rm, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {current, isCliError, Secret, stamped, userPaths} from '../base/index.ts'
import type {Site} from './site.ts'

const TTL_SECONDS = 365 * 24 * 3600
/** A token that ends sooner than this is replaced. */
const MARGIN_MS = 24 * 3600 * 1000

interface Kept {
  id: string
  token: string
  /** Milliseconds since 1970. */
  expiresAt: number
  /** The head it opens; another head knows nothing of it. */
  head: string
}

/** A token that opens this one endpoint: made by the head at first use, kept 0600 on this machine. */
export async function endpointToken(site: Site, name: string): Promise<Secret> {
  const file = tokenFile(site, name)
  const kept = await readKept(file)
  if (
    kept &&
    kept.head === site.head.nodeUri &&
    kept.expiresAt - Date.now() > MARGIN_MS &&
    (await opens(site, name, kept.token))
  )
    return new Secret(kept.token)
  const made = await site.head.request<{id: string; token: string; expires_at: number | string}>(
    'POST',
    '/flexrack/v1/tokens',
    {kind: 'endpoint', endpoint: name, ttl_seconds: TTL_SECONDS},
  )
  const entry: Kept = {
    id: made.id,
    token: made.token,
    expiresAt: new Date(made.expires_at).getTime(),
    head: site.head.nodeUri,
  }
  await mkdir(dirname(file), {recursive: true, mode: 0o700})
  await writeFile(file, JSON.stringify(stamped('endpoint.token', entry)), {mode: 0o600})
  await chmod(file, 0o600) // the mode above only counts for a new file
  return new Secret(entry.token)
}

/** Revokes and forgets it; nothing to do where there is none. */
export async function dropToken(site: Site, name: string): Promise<void> {
  const file = tokenFile(site, name)
  const kept = await readKept(file)
  if (kept && kept.head === site.head.nodeUri) {
    await site.head.request('DELETE', `/flexrack/v1/tokens/${encodeURIComponent(kept.id)}`).catch((error: unknown) => {
      if (!isCliError(error, 'NOT_FOUND')) throw error
    })
  }
  await rm(file, {force: true})
}

/** The head may have been set up anew since: then it refuses what it once gave out. */
async function opens(site: Site, name: string, token: string): Promise<boolean> {
  const {requestJson} = await import('../tracking/index.ts')
  try {
    await requestJson({
      method: 'GET',
      url: `${site.head.uri}/endpoints/${name}/v2/health/live`,
      token: new Secret(token),
      retries: 0,
      timeout: 5000,
    })
    return true
  } catch (error) {
    return !isCliError(error, 'REFUSED')
  }
}

async function readKept(file: string): Promise<Kept | undefined> {
  try {
    return current<Kept>('endpoint.token', JSON.parse(await readFile(file, 'utf8')), file)
  } catch (error) {
    if (isCliError(error, 'NEWER_VERSION')) throw error
    return undefined
  }
}

function tokenFile(site: Site, name: string): string {
  return join(userPaths(site.context.env).state, 'endpoints', site.rack.name, `${name}.json`)
}
