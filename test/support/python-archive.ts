import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {once} from 'node:events'
import {mkdir, readdir, readFile, readlink, rm, writeFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {askDebian} from '../../scripts/portable/debian.ts'
import {HERE, machineOf} from '../../scripts/portable/machines.ts'

/**
 * Debian 11's Python, which no node of the tests has; in the shape of python-build-standalone's archives. The real ones
 * are at GitHub, which the tests do not ask.
 */
const PACKAGES = ['python3.9-minimal', 'libpython3.9-minimal', 'libpython3.9-stdlib', 'python3-distutils']
const RELEASE = '20211107'
const ARCHIVE = `cpython-3.9.2+${RELEASE}-${HERE}-unknown-linux-gnu-install_only.tar.gz`

/** A server of Pythons on this machine's loopback, which has one: 3.9.2, and the hashes of its release. */
export interface PythonServer {
  /** For UV_PYTHON_INSTALL_MIRROR. */
  mirror: string
  /** For UV_PYTHON_DOWNLOADS_JSON_URL: what uv knows of the archive, with its hash; and the same with another hash. */
  known: string
  other: string
  /** Of the archive. */
  bytes: number
  /** Paths that were asked for. */
  asked: string[]
  stop(): Promise<void>
}

/** Made in `folder`. */
export async function startPythonServer(folder: string): Promise<PythonServer> {
  const debian = join(folder, 'debian')
  await mkdir(debian, {recursive: true})
  await (await askDebian(PACKAGES, machineOf(HERE), debian, 'bullseye')).extract(join(debian, 'root'))
  const python = join(folder, 'python')
  await mkdir(python)
  execFileSync('cp', ['-a', join(debian, 'root/usr/bin'), join(debian, 'root/usr/lib'), python])
  // Debian's own customization, a link to a folder of the machine: uv unpacks no such thing.
  for (const entry of await readdir(join(python, 'lib/python3.9'), {withFileTypes: true})) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isSymbolicLink() && (await readlink(path)).startsWith('/')) await rm(path)
  }
  execFileSync('tar', ['-C', folder, '-czf', join(folder, ARCHIVE), 'python'])
  const bytes = await readFile(join(folder, ARCHIVE))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const download = {
    name: 'cpython',
    arch: {family: HERE, variant: null},
    os: 'linux',
    libc: 'gnu',
    major: 3,
    minor: 9,
    patch: 2,
    prerelease: '',
    variant: null,
    build: RELEASE,
    url: `https://github.com/astral-sh/python-build-standalone/releases/download/${RELEASE}/${encodeURIComponent(ARCHIVE)}`,
  }
  const [known, other] = (await Promise.all(
    [
      ['known.json', sha256],
      ['other.json', createHash('sha256').update('other').digest('hex')],
    ].map(async ([name, hash]) => {
      const file = join(folder, name as string)
      await writeFile(file, JSON.stringify({[`cpython-3.9.2-linux-${HERE}-gnu`]: {...download, sha256: hash}}))
      return file
    }),
  )) as [string, string]
  const asked: string[] = []
  const server = createServer(({url = ''}, response) => {
    asked.push(url)
    if (url === `/${RELEASE}/SHA256SUMS`) return void response.writeHead(200).end(`${sha256}  ${ARCHIVE}\n`)
    if (url !== `/${RELEASE}/${encodeURIComponent(ARCHIVE)}`) return void response.writeHead(404).end()
    response.writeHead(200, {'content-length': bytes.length}).end(bytes)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    mirror: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    known,
    other,
    asked,
    bytes: bytes.length,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
