import {execFile, execFileSync} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {createServer, type AddressInfo, type Socket} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, expect, test} from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'flexrack-load-'))
const program = join(folder, 'http_load')
const sockets: Socket[] = []
const server = createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()))

afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
  rmSync(folder, {recursive: true})
})

test('callers that wait for answers take no processor, which is for who is to answer', async () => {
  const source = join(import.meta.dirname, '../../bench/http_load.c')
  execFileSync('gcc', ['-O2', '-Wall', '-o', program, source])
  writeFileSync(join(folder, 'request'), 'GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const {port} = server.address() as AddressInfo
  // Two connections are soon busy, for good, with a thousand requests a second due.
  const words = ['call', String(port), join(folder, 'request'), '2', '1', '1000']
  const {stdout} = await promisify(execFile)(program, words)
  const load = JSON.parse(stdout) as {requests: number; processor: number}
  expect(load.requests).toBe(0)
  expect(load.processor).toBeLessThan(0.1)
})
