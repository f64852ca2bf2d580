import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Secret} from '../../src/lib/base/index.ts'
import type {HeadConnection} from '../../src/lib/head/index.ts'
import {requestJson} from '../../src/lib/tracking/index.ts'
import {startHeadProcess, type HeadProcess} from './head-process.ts'

/** The head of a rack as a process of its own, and what a command speaks with it. */
export interface RackHead {
  rack: string
  /** Killed with -9. */
  kill(): Promise<void>
  /** Started again in its folder, at its port. */
  start(): Promise<void>
  call(method: string, path: string, body?: unknown): Promise<Response>
  /** `at` is called before and after every request, and may end all there. */
  connection(at?: (when: string) => Promise<void>): HeadConnection
  stop(): Promise<void>
}

export async function startRackHead(rack: string): Promise<RackHead> {
  const folder = await mkdtemp(join(tmpdir(), `flexrack-rack-head-${rack}-`))
  let head: HeadProcess = await startHeadProcess({folder})
  const {port} = JSON.parse(await readFile(join(folder, 'listener.json'), 'utf8')) as {port: number}
  const ca = await readFile(join(folder, 'tls/ca.pem'), 'utf8')
  let isAlive = true
  return {
    rack,
    kill: async () => {
      isAlive = false
      process.kill(head.pid, 'SIGKILL')
      while (await head.call('GET', '/flexrack/v1/status').catch(() => undefined))
        await new Promise((resolve) => setTimeout(resolve, 10))
    },
    start: async () => {
      head = await startHeadProcess({folder, port})
      isAlive = true
    },
    call: (...given) => head.call(...given),
    connection: (at = async () => {}) => {
      const request = async <T>(
        method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH',
        path: string,
        body?: unknown,
      ): Promise<T> => {
        const what = `${method} ${path.replace(/[0-9a-f-]{36}/, 'ID')} of ${rack}`
        await at(`before ${what}`)
        const {url, token} = head
        const json = body === undefined ? {} : {json: body}
        const answer = await requestJson<T>({method, url: url + path, peer: rack, token: new Secret(token), ...json})
        await at(`after ${what}`)
        return answer
      }
      return {request, nodeUri: `https://127.0.0.1:${port}`, nodeCa: ca} as HeadConnection
    },
    stop: async () => {
      if (isAlive) await head.stop()
      await rm(folder, {recursive: true, force: true})
    },
  }
}
