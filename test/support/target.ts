import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

/** What a stand-in for a model server does with a request. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

export interface Target {
  url: string
  server: Server
  stop(): Promise<void>
}

/** What a target says of a request, unless it was told to answer otherwise. */
export interface Echo {
  name: string
  path: string
  headers: Record<string, string>
  size: number
}

/** A stand-in for a model server on loopback: answers with its name and what it was asked. */
export async function startTarget(name: string, answer?: Answer, port = 0): Promise<Target> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      if (answer) return answer(request, response, body)
      response.writeHead(200, {'content-type': 'application/json'})
      response.end(JSON.stringify({name, path: request.url, headers: request.headers, size: body.length}))
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = (): Promise<void> =>
    new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections()))
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, stop}
}
