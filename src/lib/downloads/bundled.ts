import {createReadStream} from 'node:fs'
import {readdir, stat} from 'node:fs/promises'
import type {IncomingMessage, ServerResponse} from 'node:http'
import {join} from 'node:path'
import {pipeline} from 'node:stream'
import {hashFile, userPaths} from '../base/index.ts'

/** A name that no network has (RFC 2606); the proxy answers for it itself. */
export const BUNDLE_HOST = 'bundle.flexrack.invalid'
/** As python-build-standalone names its archives: version, release, platform. */
const PYTHON = /^cpython-3\.\d+\.\d+\+(\d+)-[A-Za-z0-9_-]+\.tar\.(?:gz|zst)$/
const WHEEL = /^[A-Za-z0-9_][A-Za-z0-9._+!-]*\.whl$/

/** As flexrack keeps its uv: version, processor. */
const UV = /^uv-[\d.]+-[a-z0-9_]+\.whl$/

/** Where `bundle apply` keeps things on this machine: `wheels/`, `uv/`, `restic/`, `pythons/`, `program/`. */
export function bundleFolder(env: NodeJS.ProcessEnv): string {
  return join(userPaths(env).state, 'bundle')
}

/** Names of the wheels that bundles have brought; none where none was applied. */
export async function bundledWheels(env: NodeJS.ProcessEnv): Promise<string[]> {
  return (await readdir(join(bundleFolder(env), 'wheels')).catch(() => [])).filter((name) => WHEEL.test(name)).sort()
}

/** Names of the archives of Pythons that bundles have brought. */
async function bundledPythons(env: NodeJS.ProcessEnv): Promise<string[]> {
  return (await readdir(join(bundleFolder(env), 'pythons')).catch(() => [])).filter((name) => PYTHON.test(name)).sort()
}

/** Settings of pip, and uv's of Pythons, that lead there and nowhere else. */
export const BUNDLE_SETTINGS = {
  'no-index': '1',
  'find-links': `http://${BUNDLE_HOST}/wheels/`,
  'trusted-host': BUNDLE_HOST,
  'python-install-mirror': `http://${BUNDLE_HOST}/pythons`,
}

/**
 * A page with links to all wheels, and the wheels, whole or in part: installers look into the end of a wheel for what
 * it needs. And archives of Pythons, as their releases have them, and flexrack's uv.
 */
export async function serveBundled(
  {method, headers}: IncomingMessage,
  response: ServerResponse,
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, {connection: 'close'}).end()
  const page = await pageOf(path, env)
  if (page !== undefined) {
    const type = path === '/wheels/' ? 'text/html' : 'text/plain'
    return void response
      .writeHead(200, {
        'content-type': type,
        'cache-control': 'no-cache',
        'content-length': Buffer.byteLength(page),
        connection: 'close',
      })
      .end(method === 'HEAD' ? undefined : page)
  }
  let file: string | undefined
  let size: number | undefined
  for (const place of placesOf(path, env)) {
    size = await stat(place).then(
      (one) => (one.isFile() ? one.size : undefined),
      () => undefined,
    )
    file = place
    if (size !== undefined) break
  }
  if (size === undefined || file === undefined) return void response.writeHead(404, {connection: 'close'}).end()
  const part = rangeOf(headers.range, size)
  if (part === 'none')
    return void response.writeHead(416, {'content-range': `bytes */${size}`, connection: 'close'}).end()
  const {start, end} = part ?? {start: 0, end: size - 1}
  response.writeHead(part ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': end - start + 1,
    'accept-ranges': 'bytes',
    connection: 'close',
    ...(part && {'content-range': `bytes ${start}-${end}/${size}`}),
  })
  if (method === 'HEAD') return void response.end()
  pipeline(createReadStream(file, {start, end}), response, () => {})
}

/**
 * Of wheels a page as find-links takes it; of a release of Pythons the hashes, as python-build-standalone publishes
 * them. Both with hashes: nodes give files to each other by them.
 */
async function pageOf(path: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const release = /^\/pythons\/(\d+)\/SHA256SUMS$/.exec(path)?.[1]
  if (path !== '/wheels/' && release === undefined) return undefined
  const folder = join(bundleFolder(env), release === undefined ? 'wheels' : 'pythons')
  const names =
    release === undefined
      ? await bundledWheels(env)
      : (await bundledPythons(env)).filter((name) => PYTHON.exec(name)?.[1] === release)
  const lines: string[] = []
  for (const name of names) {
    const hash = await hashOf(join(folder, name)).catch(() => undefined)
    if (hash === undefined) continue // it is no file that can be read, and would not be given either
    lines.push(
      release === undefined
        ? `<a href="${encodeURIComponent(name)}#sha256=${hash}">${name}</a>\n`
        : `${hash}  ${name}\n`,
    )
  }
  return lines.join('')
}

/** Where it may lie here; nowhere, if it is nothing that is given. */
function placesOf(path: string, env: NodeJS.ProcessEnv): string[] {
  const [, kind = '', release, encoded = ''] = /^\/(wheels|pythons|uv)(?:\/(\d+))?\/([^/]+)$/.exec(path) ?? []
  const name = decodeURIComponent(encoded)
  if (kind === 'uv')
    return release === undefined && UV.test(name)
      ? [join(userPaths(env).cache, 'uv', name), join(bundleFolder(env), 'uv', name)]
      : []
  const isOurs =
    kind === 'wheels'
      ? release === undefined && WHEEL.test(name)
      : PYTHON.exec(name)?.[1] === release && release !== undefined
  return isOurs ? [join(bundleFolder(env), kind, name)] : []
}

const hashes = new Map<string, Promise<string>>()

/** Once a command and content: a file is replaced whole. */
async function hashOf(file: string): Promise<string> {
  const {size, mtimeMs, ino} = await stat(file)
  const key = `${file} ${size} ${mtimeMs} ${ino}`
  const known = hashes.get(key) ?? hashFile(file)
  hashes.set(key, known)
  known.catch(() => hashes.delete(key))
  return known
}

/** One range, `a-b`, `a-` or `-n`; undefined: all of it. */
function rangeOf(header: string | undefined, size: number): {start: number; end: number} | 'none' | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!found || (found[1] === '' && found[2] === '')) return undefined
  const [first, last] = [found[1], found[2]]
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start > end ? 'none' : {start, end}
}
