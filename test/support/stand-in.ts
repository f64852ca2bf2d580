import {createServer} from 'node:http'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'

export interface StandIn {
  socket: string
  /** `METHOD /path bytes` of every request whose body came whole. */
  seen: string[]
  stop(): Promise<void>
}

/** What listens where MLflow would, and answers everything with 200 and what it is told. */
export async function standIn(answer: (method: string, path: string) => unknown = () => ({})): Promise<StandIn> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-standin-'))
  const seen: string[] = []
  const server = createServer((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => (bytes += chunk.length))
    request.on('error', () => {})
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${bytes}`)
      response
        .writeHead(200, {'content-type': 'application/json'})
        .end(JSON.stringify(answer(request.method ?? '', request.url ?? '')))
    })
  })
  const socket = join(folder, 'mlflow.sock')
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return {
    socket,
    seen,
    async stop() {
      await new Promise<void>((resolve) => (server.close(() => resolve()), server.closeAllConnections()))
      await rm(folder, {recursive: true, force: true})
    },
  }
}
