import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import type {ServerStatus, ServiceConfig} from '../../src/lib/head/types.ts'
import type {ListenerRecord} from '../../src/lib/protocol/index.ts'

export interface HeadProcess {
  url: string
  folder: string
  pid: number
  /** The admin token. */
  token: string
  /** Calls the head with the admin token. */
  call(method: string, path: string, body?: unknown): Promise<Response>
  /** Bytes of memory that the process has in use. */
  memory(): Promise<number>
  /** SIGTERM; exit status or signal. */
  stop(): Promise<number | string | null>
}

const MAIN = fileURLToPath(new URL('../../src/lib/head/service/main.ts', import.meta.url))

/** The head's own process on loopback, without MLflow behind it. Its folder is removed with it, unless it was given. */
export async function startHeadProcess(config: Partial<ServiceConfig> = {}): Promise<HeadProcess> {
  const folder = config.folder ?? (await mkdtemp(join(tmpdir(), 'flexrack-head-')))
  await mkdir(folder, {recursive: true, mode: 0o700})
  const whole: ServiceConfig = {
    version: 'test',
    bind: '127.0.0.1',
    port: 0,
    python: '/nowhere/python',
    ...config,
    folder,
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(whole), {mode: 0o600})
  await rm(join(folder, 'listener.json'), {force: true})
  const child = spawn(process.execPath, [MAIN, join(folder, 'config.json')], {stdio: ['ignore', 'pipe', 'pipe']})
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + String(chunk)).slice(-5000)))
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>
  let listener: ListenerRecord | undefined
  while (!listener) {
    if (child.exitCode !== null) throw new Error(`the head ended with ${child.exitCode}: ${output}`)
    listener = await readFile(join(folder, 'listener.json'), 'utf8').then(
      (text) => JSON.parse(text) as ListenerRecord,
      () => undefined,
    )
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const token = (await readFile(join(folder, 'admin-token'), 'utf8')).trim()
  const url = `http://127.0.0.1:${listener.plainPort}`
  return {
    url,
    folder,
    token,
    pid: child.pid!,
    call: (method, path, body) =>
      fetch(url + path, {
        method,
        headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'},
        ...(body !== undefined && {body: JSON.stringify(body)}),
      }),
    memory: async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
    async stop() {
      child.kill('SIGTERM')
      const [code, signal] = await ended
      if (config.folder === undefined) await rm(folder, {recursive: true, force: true})
      return signal ?? code
    },
  }
}

/** What it tells of itself. */
export async function statusOf(head: HeadProcess): Promise<ServerStatus> {
  return (await (await head.call('GET', '/flexrack/v1/status')).json()) as ServerStatus
}
