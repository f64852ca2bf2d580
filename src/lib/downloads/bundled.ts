import {createReadStream} from 'node:fs'
import {readdir, stat} from 'node:fs/promises'
import type {IncomingMessage, ServerResponse} from 'node:http'
import {join} from 'node:path'
import {pipeline} from 'node:stream'
import {userPaths} from '../base/index.ts'

/** A name that no network has (RFC 2606); the proxy answers for it itself. */
export const BUNDLE_HOST = 'bundle.flexrack.invalid'
const WHEEL = /^[A-Za-z0-9_][A-Za-z0-9._+!-]*\.whl$/

/** Where `bundle apply` keeps things on this machine: `wheels/`, `uv/`, `program/`. */
export function bundleFolder(env: NodeJS.ProcessEnv): string {
  return join(userPaths(env).state, 'bundle')
}

/** Names of the wheels that bundles have brought; none where none was applied. */
export async function bundledWheels(env: NodeJS.ProcessEnv): Promise<string[]> {
  return (await readdir(join(bundleFolder(env), 'wheels')).catch(() => [])).filter((name) => WHEEL.test(name)).sort()
}

/** pip's settings that lead there and nowhere else. */
export const BUNDLE_SETTINGS = {'no-index': '1', 'find-links': `http://${BUNDLE_HOST}/wheels/`, 'trusted-host': BUNDLE_HOST}

/** A page with links to all wheels, and the wheels, whole or in part: installers look into the end of a wheel for what it needs. */
export async function serveBundled({method, headers}: IncomingMessage, response: ServerResponse, path: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, {connection: 'close'}).end()
  if (path === '/wheels/') {
    const page = (await bundledWheels(env)).map((name) => `<a href="${encodeURIComponent(name)}">${name}</a>\n`).join('')
    return void response.writeHead(200, {'content-type': 'text/html', 'cache-control': 'no-cache', 'content-length': Buffer.byteLength(page), connection: 'close'}).end(method === 'HEAD' ? undefined : page)
  }
  const name = decodeURIComponent(/^\/wheels\/([^/]+)$/.exec(path)?.[1] ?? '')
  const file = join(bundleFolder(env), 'wheels', name)
  const size = WHEEL.test(name) ? await stat(file).then((one) => (one.isFile() ? one.size : undefined), () => undefined) : undefined
  if (size === undefined) return void response.writeHead(404, {connection: 'close'}).end()
  const part = rangeOf(headers.range, size)
  if (part === 'none') return void response.writeHead(416, {'content-range': `bytes */${size}`, connection: 'close'}).end()
  const {start, end} = part ?? {start: 0, end: size - 1}
  response.writeHead(part ? 206 : 200, {
    'content-type': 'application/octet-stream', 'content-length': end - start + 1, 'accept-ranges': 'bytes', connection: 'close', ...(part && {'content-range': `bytes ${start}-${end}/${size}`}),
  })
  if (method === 'HEAD') return void response.end()
  pipeline(createReadStream(file, {start, end}), response, () => {})
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
