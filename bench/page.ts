// The rack's page under load: what the head uses while 64 nodes are told of once a second and 20 browsers watch, and how
// long a log of 100 MB takes to open at its end, at its first error, and by a text (the node program's part, with Python's
// start, as the page waits for it).
import {execFileSync} from 'node:child_process'
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {get} from 'node:http'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import {startHeadProcess, type HeadProcess} from '../test/support/head-process.ts'
import {rackOf} from '../test/support/page-facts.ts'
import {openHand} from '../test/support/ui-hand.ts'
import {median, report, root, type Row} from './measure.ts'

const NODES = 64
const WATCHERS = 20
const SECONDS = 30
const LOG_BYTES = 100 * 1024 * 1024
const ROUNDS = 5
/** Of proc(5): clock ticks a second on Linux. */
const TICKS = 100

const head = await startHeadProcess()
try {
  report(
    'page',
    [...(await watched(head)), ...openLog()],
    [
      `${NODES} nodes of 8 GPUs, told of at each look by one head ui; ${WATCHERS} browsers with the page of the rack open, over plain HTTP on loopback.`,
      `A log of ${LOG_BYTES / 2 ** 20} MiB; times are of the node's program, with the start of Python. The error and the text are in its middle.`,
    ],
  )
} finally {
  await head.stop()
}

async function watched(one: HeadProcess): Promise<Row[]> {
  let tick = 0
  const hand = await openHand(one, {rack: () => rackOf(NODES, {tick: tick++})})
  const headers = await hand.enter()
  const text = await (await fetch(`${one.url}/flexrack/ui/`, {headers})).text()
  const files = await Promise.all(
    [...text.matchAll(/(?:href|src)="(\/flexrack\/ui\/assets\/[^"]+)"/g)].map(async ([, path]) =>
      (await fetch(one.url + path!, {headers})).text(),
    ),
  )
  const sent = [text, ...files].reduce((sum, part) => sum + gzipSync(part).length, 0)
  let bytes = 0
  const streams = Array.from({length: WATCHERS}, () =>
    get(`${one.url}/flexrack/ui/events?page=%2Fflexrack%2Fui%2F`, {headers, agent: false}, (answer) =>
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length)),
    ),
  )
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const [before, beforeBytes, beforeTicks] = [cpuOf(one.pid), bytes, tick]
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000))
  const share = (cpuOf(one.pid) - before) / SECONDS
  const rows: Row[] = [
    {what: `head, ${WATCHERS} watch ${NODES} nodes: of one core`, value: share * 100, unit: '%', bar: 5},
    {what: '  looks in a minute', value: ((tick - beforeTicks) / SECONDS) * 60, unit: 'answers'},
    {
      what: '  sent to each who watches, in a second',
      value: (bytes - beforeBytes) / SECONDS / WATCHERS / 2 ** 20,
      unit: 'MiB',
    },
    {
      what: `the page of ${NODES} nodes with style and script, compressed`,
      value: sent / 2 ** 20,
      unit: 'MiB',
      bar: 60 / 1024,
    },
  ]
  for (const stream of streams) stream.destroy()
  await hand.close()
  return rows
}

/** Seconds of processor time. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

function openLog(): Row[] {
  const folder = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
  try {
    const attempt = join(folder, 'runs/digits-ab12c/attempts/1')
    mkdirSync(attempt, {recursive: true})
    writeFileSync(join(folder, 'runs/digits-ab12c/spec.json'), '{"run": "digits-ab12c"}')
    writeFileSync(join(folder, 'runs/digits-ab12c/lock'), '')
    const line = 'epoch 1 step 123456 loss 0.123456 lr 0.0003 samples/s 18234.5\n'
    const half = line.repeat(Math.floor(LOG_BYTES / 2 / line.length))
    writeFileSync(join(attempt, 'rank-0.log'), `${half}Traceback (most recent call last):\nValueError: boom\n${half}`)
    const take = (what: string, input: object): Row => {
      const times = Array.from({length: ROUNDS}, () => {
        const began = performance.now()
        const answer = execFileSync('python3', [join(root, 'node/flexrack_node'), 'run.window', folder, folder], {
          input: `${JSON.stringify({run: 'digits-ab12c', ...input})}\n`,
          maxBuffer: 2 ** 26,
        }).toString()
        if (!answer.includes('"text"')) throw new Error(answer)
        return performance.now() - began
      })
      return {what, value: median(times), unit: 'ms', bar: 1000}
    }
    return [
      take('end of a log of 100 MB', {}),
      take('its first error', {failure: true}),
      take('a text in it', {search: 'valueerror'}),
    ]
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}
