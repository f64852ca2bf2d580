/**
 * What unfinished requests cost the head: 24 and 240 of 30 MB to an endpoint, of each all bytes but the last. Before
 * bodies had a budget it was what they brought: 840 MiB with 24, and 4.7 GiB and growing with 240.
 */
import {connect} from 'node:net'
import {setTimeout as pause} from 'node:timers/promises'
import {startHeadProcess} from '../test/support/head-process.ts'
import {report, type Row} from './measure.ts'

const SIZE = 30 * 1024 * 1024
const MIB = 1024 ** 2

const rows: Row[] = []
for (const count of [24, 240]) {
  const head = await startHeadProcess()
  await head.call('PUT', '/flexrack/v1/endpoints/digits', {
    revision: 0,
    document: {active: {targets: ['http://127.0.0.1:9']}},
  })
  const before = await head.memory()
  let answers: string[] = []
  const body = Buffer.alloc(SIZE - 10, 'x')
  const sockets = Array.from({length: count}, () => {
    const socket = connect({host: '127.0.0.1', port: Number(new URL(head.url).port)})
    socket.on('error', () => {})
    socket.once('data', (chunk) => answers.push(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1] ?? ''))
    socket.write(
      `POST /endpoints/digits/v2/models/digits/infer HTTP/1.1\r\nHost: head\r\nAuthorization: Bearer ${head.token}\r\nContent-Length: ${SIZE}\r\n\r\n`,
    )
    socket.write(body)
    return socket
  })
  let most = 0
  for (let idle = 0, last = 0; idle < 24;) {
    await pause(250)
    most = Math.max(most, await head.memory())
    const sent = sockets.reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, answers.length)
    idle = sent === last ? idle + 1 : 0
    last = sent
  }
  const began = performance.now()
  const status = (await head.call('GET', '/flexrack/v1/status')).status
  const refused = answers.filter((code) => code === '503').length
  rows.push(
    {
      what: `memory of the head, ${count} unfinished requests of 30 MB`,
      value: Math.round(most / MIB),
      unit: 'MiB',
      bar: 640,
    },
    {what: `  before them`, value: Math.round(before / MIB), unit: 'MiB'},
    {what: `  refused with 503`, value: refused, unit: 'answers'},
    {what: `  its own status, meanwhile`, value: Math.round(performance.now() - began), unit: 'ms'},
  )
  if (status !== 200) throw new Error(`the head answered ${status} in between`)
  answers = []
  for (const socket of sockets) socket.destroy()
  await head.stop()
}
report('head-memory', rows)
