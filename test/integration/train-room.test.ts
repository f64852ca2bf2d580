import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {connectHead, startHead, type HeadConnection, type QueuedRun} from '../../src/lib/head/index.ts'
import {openRuns} from '../../src/lib/runs/index.ts'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

// Counts, saves each number, and once more when it is asked to end; it is over when it is told so.
const COUNTS = `
import os, signal, sys, time
from pathlib import Path
folder = Path(os.environ["FLEXRACK_OUTPUTS"]) / "checkpoints"
folder.mkdir(exist_ok=True)
found = os.environ.get("FLEXRACK_CHECKPOINT")
count = int(Path(found).read_text()) if found else 0
print("from", count, flush=True)
def save():
    if os.environ["RANK"] != "0": return
    (folder / "count.txt.partial").write_text(str(count))
    (folder / "count.txt.partial").replace(folder / "count.txt")
def last(*_):
    save()
    print("saved", count, flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, last)
while not Path(os.environ["OVER"]).exists():
    count += 1
    save()
    time.sleep(0.2)
print("done", flush=True)
`

let setup: TrainRack
let head: HeadConnection
let flags: string
const context = () => makeContext({env: setup.rack.env})

beforeAll(async () => {
  setup = await startTrainRack(2)
  flags = await mkdtemp(join(tmpdir(), 'flexrack-room-'))
  await startHead(setup.rack.rack, setup.rack.fleet(), context())
  head = await connectHead(setup.rack.rack, setup.rack.fleet(), context())
}, 900_000)
afterAll(async () => {
  await head?.close()
  await setup?.stop()
  if (flags) await rm(flags, {recursive: true, force: true})
})

const queue = async (): Promise<QueuedRun[]> =>
  (await head.request<{queue: QueuedRun[]}>('GET', '/flexrack/v1/claims')).queue

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

test(
  'a run of a higher priority gets the nodes of a preemptible one, which goes on from its checkpoint when that is over',
  {timeout: 600_000},
  async () => {
    const over = (name: string): string => join(flags, name)
    const spec = {exclusive: true, checkpoint: {path: 'checkpoints/'}, preemptible: true as const}
    const {trained: first} = await setup.train(COUNTS, {
      spec: {...spec, env: {OVER: over('first')}},
      choice: {tracking: true},
      detach: true,
    })
    const runs = openRuns(
      {rack: setup.rack.rack, fleet: setup.rack.fleet(), manifest: await setup.manifest()},
      context(),
    )
    await writeFile(over('second'), '') // it is over as soon as it runs
    const second = setup.train(COUNTS, {
      spec: {...spec, priority: 5, env: {OVER: over('second')}},
      choice: {tracking: true, wait: 300},
    })
    const away = await until(async () => (await queue()).find((one) => one.run === first.run))
    expect(away).toMatchObject({priority: 0})
    const {trained, lines} = await second
    expect(trained).toMatchObject({status: 'finished', attempts: 1})
    expect(textOf(lines, 0)).toEqual(['from 0', 'done'])
    await until(async () => ((await queue()).some((one) => one.run === first.run) ? undefined : true))
    await until(async () => {
      const text = await logOf(first.run, 2)
      return text.includes('from') ? text : undefined
    })
    await writeFile(over('first'), '')
    expect(await runs.wait(await runs.find(first.run), undefined)).toMatchObject({status: 'finished'})
    const saved = /saved (\d+)/.exec(await logOf(first.run, 1))?.[1]
    expect(await logOf(first.run, 2)).toBe(`from ${saved}\ndone\n`)
    const {text} = await head.request<{text: string}>('GET', '/flexrack/v1/audit/1')
    expect(text).toContain(`"run.preempt","target":"${first.run} for ${trained.run}"`)
  },
)

async function logOf(run: string, attempt: number): Promise<string> {
  const root = join(setup.rack.home, 'state/local/nodes/node-1/home/.flexrack/runs')
  return readFile(join(root, run, 'attempts', String(attempt), 'rank-0.log'), 'utf8').catch(() => '')
}
