import {createHash, randomBytes} from 'node:crypto'
import {readFile, rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {CliError, ensurePrivateFolder, userPaths, withProgress, type Context} from '../base/index.ts'
import {bundleFolder} from '../downloads/index.ts'

/**
 * The package of Debian 13 with which nodes get restic that have none. Its hashes are those of Debian's own index
 * (Packages).
 */
const VERSION = '0.18.0'
const PACKAGES: Readonly<Record<string, {name: string; sha256: string}>> = {
  x86_64: {
    name: 'restic_0.18.0-1+b4_amd64.deb',
    sha256: '4888fb20b272a28b84ac39171b7d7f0d9a58c2aeae51ec28e54684648d66e12c',
  },
  aarch64: {
    name: 'restic_0.18.0-1+b4_arm64.deb',
    sha256: '3877c6ef8efe052e80a6417b0ac0a672e644fd8bf5ef14e8b803ab6744e43be2',
  },
}
/** Debian's mirror has a package for as long as it is the newest of its release; the archive has it for good. */
const PLACES = ['http://deb.debian.org/debian', 'http://snapshot.debian.org/archive/debian/20250801T000000Z']
const POOL = 'pool/main/r/restic'
const MOST_BYTES = 64 << 20
const SILENCE_MS = 30_000

export interface ResticPackage {
  name: string
  sha256: string
  bytes: Buffer
}

export const resticVersion = (): string => VERSION

/**
 * The package for a kind of machine: of the cache or a bundle if it is what its hash says, else of
 * Debian's mirror (FLEXRACK_DEBIAN_MIRROR names another one).
 * Errors: REMOTE_FAILED where this machine cannot get it, NODE_UNFIT where there is none for such a machine.
 */
export async function obtainRestic(machine: string, context: Context): Promise<ResticPackage> {
  const wanted = PACKAGES[machine]
  if (!wanted) {
    throw new CliError('NODE_UNFIT', `there is no restic of flexrack's for ${machine}`, {
      hint: 'install restic 0.14 or newer on the node',
    })
  }
  const folder = join(userPaths(context.env).cache, 'restic')
  for (const place of [folder, join(bundleFolder(context.env), 'restic')]) {
    const bytes = await readFile(join(place, wanted.name)).catch(() => undefined)
    if (bytes && hashOf(bytes) === wanted.sha256) return {...wanted, bytes}
  }
  await ensurePrivateFolder(folder)
  return withProgress(context.reporter, [`Fetch restic ${VERSION} from Debian`], async (progress) => {
    const part = join(folder, `.part-${randomBytes(6).toString('hex')}`)
    try {
      const bytes = await fetchAny(wanted, context, (done, total) => progress.amount(done, total, 'bytes'))
      await writeFile(part, bytes, {mode: 0o600})
      await rename(part, join(folder, wanted.name))
      return {...wanted, bytes}
    } finally {
      await rm(part, {force: true})
    }
  })
}

async function fetchAny(
  {name, sha256}: {name: string; sha256: string},
  context: Context,
  onBytes: (done: number, total: number) => void,
): Promise<Buffer> {
  const own = context.env.FLEXRACK_DEBIAN_MIRROR?.replace(/\/+$/, '')
  const reasons: string[] = []
  for (const place of own ? [own] : PLACES) {
    const url = `${place}/${POOL}/${encodeURIComponent(name)}`
    const bytes = await fetchOne(url, context, onBytes).catch((error: unknown) => {
      if (context.signal.aborted) throw new CliError('INTERRUPTED', 'interrupted')
      reasons.push(`${new URL(url).host}: ${reasonOf(error)}`)
      return undefined
    })
    if (bytes === undefined) continue
    if (hashOf(bytes) === sha256) return bytes
    reasons.push(`${new URL(url).host}: it has another content than its hash says`)
  }
  const message =
    `this machine could not fetch restic ${VERSION}, ` +
    `which saves workspaces on nodes that have none (${reasons.join('; ')})`
  throw new CliError('REMOTE_FAILED', message, {
    hint:
      'install restic 0.14 or newer on the node; or FLEXRACK_DEBIAN_MIRROR=http://mirror/debian; ' +
      'where the internet comes through a proxy: NODE_USE_ENV_PROXY=1 and HTTP_PROXY',
  })
}

async function fetchOne(
  url: string,
  {signal}: Context,
  onBytes: (done: number, total: number) => void,
): Promise<Buffer> {
  const late = new AbortController()
  let timer = setTimeout(() => late.abort(), SILENCE_MS)
  try {
    const answer = await fetch(url, {signal: AbortSignal.any([signal, late.signal])})
    if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`)
    const total = Number(answer.headers.get('content-length') ?? 0)
    const parts: Uint8Array[] = []
    let done = 0
    for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
      clearTimeout(timer)
      timer = setTimeout(() => late.abort(), SILENCE_MS)
      done += part.length
      if (done > MOST_BYTES) throw new Error('it is far too large')
      parts.push(part)
      if (total > 0) onBytes(Math.min(done, total), total)
    }
    return Buffer.concat(parts)
  } catch (error) {
    throw late.signal.aborted && !signal.aborted ? new Error('no answer', {cause: error}) : error
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(error: unknown): string {
  const cause = (error as {cause?: {code?: string; message?: string}}).cause
  return cause?.code ?? cause?.message ?? (error as Error).message
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
