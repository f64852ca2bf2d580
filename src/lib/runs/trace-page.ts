import {randomBytes} from 'node:crypto'
import {createReadStream} from 'node:fs'
import {readdir, stat} from 'node:fs/promises'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import {createRequire} from 'node:module'
import {basename, dirname, extname, join} from 'node:path'
import {CliError, type Context} from '../base/index.ts'

/** A trace in a browser of this machine. */
export interface TracePage {
  /** Who has it, sees the trace. */
  url: string
  close(): Promise<void>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
  '.gz': 'application/gzip',
  '.map': 'application/json',
  '.md': 'text/plain; charset=utf-8',
}

/**
 * Its scripts make styles and, for other formats than ours, instantiate WebAssembly; nothing is asked of another host.
 */
const POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/**
 * Serves speedscope (a page that reads Chrome's traces, without internet) with one trace on a port of 127.0.0.1, below
 * a path that nobody guesses: other accounts of this machine reach the port, too. Errors: CONFLICT where the port is
 * taken.
 */
export async function openTracePage(
  trace: string,
  {port = 0, title}: {port?: number | undefined; title: string},
  context: Pick<Context, 'reporter'>,
): Promise<TracePage> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist/release')
  const secret = `/${randomBytes(24).toString('hex')}`
  const files = new Map((await readdir(folder)).map((name) => [`${secret}/${name}`, join(folder, name)]))
  files.set(`${secret}/`, join(folder, 'index.html'))
  const profile = `${secret}/traces/${encodeURIComponent(basename(trace))}`
  files.set(profile, trace)
  const server = createServer((request, response) => {
    void answer(request, response, files).catch((error: unknown) => {
      context.reporter.warn(`the trace was not sent: ${(error as Error).message}`)
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new CliError('CONFLICT', `port ${port} of this machine is taken`, {hint: 'leave out --port', cause: error})
          : error,
      ),
    )
    server.listen(port, '127.0.0.1', resolve)
  })
  const {port: own} = server.address() as {port: number}
  return {
    url: `http://127.0.0.1:${own}${secret}/#profileURL=${encodeURIComponent(profile)}&title=${encodeURIComponent(title)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  const path = files.get((request.url ?? '').replace(/\?.*$/s, ''))
  const isHere = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? '')
  const headers = {
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Content-Security-Policy': POLICY,
  }
  if (!path || !isHere || request.method !== 'GET') {
    response.writeHead(404, headers).end()
    return
  }
  response.writeHead(200, {
    ...headers,
    'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
    'Content-Length': (await stat(path)).size,
  })
  await new Promise<void>((resolve, reject) => {
    createReadStream(path).on('error', reject).pipe(response).on('close', resolve)
  })
}
