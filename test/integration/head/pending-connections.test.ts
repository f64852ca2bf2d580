import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import {Agent, request} from 'node:https'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {afterEach, expect, test} from 'vitest'
import {startHeadProcess} from '../../support/head-process.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/**
 * Connects so often and says nothing, and then goes on to connect, send rubbish and be cut, over and over, until stdin
 * ends.
 */
const FLOOD = `
import {connect} from 'node:net'
const [port, silent, flooding] = process.argv.slice(1).map(Number)
const open = () => new Promise((resolve) => { const socket = connect(port, '127.0.0.1', () => resolve(socket)); socket.on('error', () => resolve(socket)) })
for (let left = silent; left > 0; left -= 100) await Promise.all(Array.from({length: 100}, open))
console.log('here')
const flood = async () => { for (;;) { const socket = await open(); socket.write('x'.repeat(100)); await new Promise((resolve) => { socket.once('close', resolve); setTimeout(resolve, 500) }); socket.destroy() } }
for (let index = 0; index < flooding; index++) flood()
process.stdin.on('end', () => process.exit(0)).resume()
`

test(
  '2000 who say nothing and 200 who flood the head take the places of each other only',
  {timeout: 600_000},
  async () => {
    const head = await startHeadProcess()
    closers.push(() => head.stop())
    const {port} = JSON.parse(await readFile(join(head.folder, 'listener.json'), 'utf8')) as {port: number}
    const ca = await readFile(join(head.folder, 'tls/ca.pem'), 'utf8')
    let from: number | undefined // the port of the connection that was used last
    const ask = (agent: Agent | false): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const one = request(
          {
            host: '127.0.0.1',
            port,
            path: '/flexrack/v1/status',
            ca,
            servername: 'localhost',
            agent,
            headers: {authorization: `Bearer ${head.token}`},
            timeout: 30_000,
          },
          (answer) => {
            from = answer.socket.localPort
            answer.resume().once('end', () => resolve(answer.statusCode))
          },
        )
        one
          .on('timeout', () => one.destroy(new Error('no answer in 30 s')))
          .on('error', reject)
          .end()
      })
    const kept = new Agent({keepAlive: true, maxSockets: 1})
    closers.push(() => kept.destroy())
    expect(await ask(kept)).toBe(200)
    const before = from

    const child = spawn(process.execPath, ['--input-type=module', '-e', FLOOD, String(port), '2000', '200'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    closers.push(async () => {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    })
    await new Promise((resolve) => createInterface({input: child.stdout}).once('line', resolve))
    const times: number[] = []
    for (let round = 0; round < 20; round++) {
      const begin = performance.now()
      expect(await ask(false)).toBe(200)
      times.push(performance.now() - begin)
    }
    times.sort((a, b) => a - b)
    console.info(
      `the head under 2000 silent and 200 flooding connections: a new caller is answered in ${Math.round(times[10]!)} ms, the slowest in ${Math.round(times.at(-1)!)} ms`,
    )
    expect(await ask(kept)).toBe(200)
    expect(from).toBe(before)
  },
)
