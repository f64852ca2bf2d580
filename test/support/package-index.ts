import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {once} from 'node:events'
import {mkdtemp, readFile, readdir, rm} from 'node:fs/promises'
import {createServer as createPlain, type IncomingMessage, type Server, type ServerResponse} from 'node:http'
import {createServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {certificateFor} from './certificates.ts'

/** A package index on this machine's loopback, with and without TLS. */
export interface PackageIndex {
  /** `https://127.0.0.1:PORT/simple` and the same without TLS. */
  secure: string
  plain: string
  /** The certificate to be trusted. */
  ca: string
  /** Paths that were asked for. */
  asked: string[]
  /** Files of this name are begun and wait until the function that it returns is called. */
  hold(name: string): () => void
  stop(): Promise<void>
}

/** A wheel without anything but a version. */
const WHEEL = `import sys, zipfile
folder, name, version = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as archive:
    archive.writestr(f"{name}.py", f"version = '{version}'")
    info = f"{name}-{version}.dist-info"
    archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    archive.writestr(f"{info}/RECORD", "")
`

export function makeWheel(folder: string, name: string, version: string): void {
  execFileSync('python3', ['-c', WHEEL, folder, name, version])
}

/** `packages`: names; each has a version 1.0. */
export async function startPackageIndex(packages: string[]): Promise<PackageIndex> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-index-'))
  for (const name of packages) makeWheel(folder, name, '1.0')
  const {ca, key, cert} = await certificateFor(folder, '127.0.0.1')
  const asked: string[] = []
  const held = new Map<string, Promise<void>>()
  const answer = async ({url = ''}: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(url)
    const name = url.split('/').at(-1) || url.split('/').at(-2) || ''
    const files = (await readdir(folder)).filter((one) => one.endsWith('.whl'))
    if (url.startsWith('/simple/')) {
      const own = files.filter((one) => one.startsWith(`${name}-`))
      const links = await Promise.all(
        own.map(
          async (one) =>
            `<a href="/files/${one}#sha256=${createHash('sha256')
              .update(await readFile(join(folder, one)))
              .digest('hex')}">${one}</a>\n`,
        ),
      )
      return void response.writeHead(own.length > 0 ? 200 : 404, {'content-type': 'text/html'}).end(links.join(''))
    }
    if (!files.includes(name)) return void response.writeHead(404).end()
    const bytes = await readFile(join(folder, name))
    response.writeHead(200, {'content-length': bytes.length})
    response.write(bytes.subarray(0, 1))
    await held.get(name)
    response.end(bytes.subarray(1))
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response).catch(() => response.destroy())
  const servers = [
    createServer({key: await readFile(key), cert: await readFile(cert)}, listener),
    createPlain(listener),
  ] as [Server, Server]
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  const [secure, plain] = servers.map((server) => (server.address() as AddressInfo).port)
  return {
    secure: `https://127.0.0.1:${secure}/simple`,
    plain: `http://127.0.0.1:${plain}/simple`,
    ca,
    asked,
    hold(name) {
      let free = (): void => {}
      held.set(name, new Promise((resolve) => (free = resolve)))
      return () => free()
    },
    async stop() {
      for (const server of servers) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
      await rm(folder, {recursive: true, force: true})
    },
  }
}
