import {createHash} from 'node:crypto'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {StopRequest, makeContext} from '../../src/lib/base/index.ts'
import {followRun, openRuns, stopRun, type RankLine} from '../../src/lib/runs/index.ts'
import {openHost} from '../../src/lib/host/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {planTrain} from '../../src/lib/train/index.ts'
import {upWorkspace} from '../../src/lib/workspace/index.ts'
import {startTcpRelay} from '../support/tcp-relay.ts'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

let setup: TrainRack

beforeAll(async () => {
  setup = await startTrainRack(2)
})
afterAll(() => setup?.stop())

/** A rank that leaves a child behind and never ends by itself. */
const FOREVER = `import os, subprocess, time
subprocess.Popen(["setsid", "sleep", "600"])
print("up", flush=True)
while True: time.sleep(0.05)
`

const allUp = (lines: RankLine[]): boolean => [0, 1].every((rank) => textOf(lines, rank).includes('up'))

test('ranks run where the plan says, and their lines come in order with node and rank', async () => {
  const script =
    'import os, sys\nfor i in range(200): print(i, os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["FLEXRACK_NODE"], *sys.argv[1:])\n'
  const {trained, lines} = await setup.train(script, {choice: {args: ['--epochs', '2']}})
  expect(trained).toMatchObject({
    status: 'finished',
    exit: 0,
    worldSize: 2,
    nodes: ['node-1', 'node-2'],
    cause: null,
    left: {'node-1': [], 'node-2': []},
  })
  for (const rank of [0, 1])
    expect(textOf(lines, rank)).toEqual(
      Array.from({length: 200}, (_, i) => `${i} ${rank} 2 node-${rank + 1} --epochs 2`),
    )
  expect(await setup.alive(trained.run)).toEqual([])
})

test('a rank that exits with 17 ends the run everywhere and is shown as the first cause', async () => {
  const script = FOREVER.replace(
    'while True',
    'if os.environ["RANK"] == "1": print("no such digit"); raise SystemExit(17)\nwhile True',
  )
  const {trained} = await setup.train(script)
  expect(trained).toMatchObject({
    status: 'failed',
    cause: {kind: 'rank', rank: 1, node: 'node-2', exit: 17, signal: null},
  })
  expect(trained.cause?.lines.at(-1)).toBe('no such digit')
  expect(await setup.alive(trained.run)).toEqual([])
})

test('a rank killed with SIGKILL is named with its signal', async () => {
  let killed = false
  const {trained} = await setup.train(`${FOREVER.replace('"up"', '"up", os.getpid()')}`, {
    onLines: (lines) => {
      const pid = textOf(lines, 0)[0]?.split(' ')[1]
      if (killed || pid === undefined || textOf(lines, 1).length === 0) return
      killed = true
      process.kill(Number(pid), 'SIGKILL')
    },
  })
  expect(trained.cause).toMatchObject({rank: 0, node: 'node-1', signal: 'KILL'})
  expect(await setup.alive(trained.run)).toEqual([])
})

test('a failed gang starts again as a whole, as often as restarts says', async () => {
  const script =
    'import os\nk = int(os.environ["FLEXRACK_ATTEMPT"])\nprint("attempt", k)\nraise SystemExit(3 if k == 1 and os.environ["RANK"] == "1" else 0)\n'
  const {trained, lines, news} = await setup.train(script, {spec: {restarts: 1}})
  expect(trained).toMatchObject({status: 'finished', attempts: 2})
  expect(textOf(lines, 0).at(-1)).toBe('attempt 2')
  expect(news.map((one) => one.event)).toContain('restarting')
})

test('a sync during a run does not change what its ranks read, also not after a restart, and runs show names the code', async () => {
  const program = (word: string): string =>
    `import os, time\nfrom flexrack_probe import word\nprint("${word}", word, open("train.py").read().count("${word}"), flush=True)\n` +
    'while not os.path.exists(os.environ["FLEXRACK_OUTPUTS"] + "/go"): time.sleep(0.02)\nraise SystemExit(3 if os.environ["FLEXRACK_ATTEMPT"] == "1" else 0)\n'
  await writeFile(join(setup.folder, 'flexrack_probe.py'), 'word = "first"\n')
  let changed: Promise<unknown> | undefined
  const context = makeContext({env: setup.rack.env})
  const change = async (run: string): Promise<void> => {
    await writeFile(join(setup.folder, 'flexrack_probe.py'), 'word = "second"\n')
    await writeFile(join(setup.folder, 'train.py'), program('new'))
    const hosts = await Promise.all(setup.rack.rack.nodes.map((node) => openHost(setup.rack.fleet(), node, context)))
    await upWorkspace(hosts, await setup.manifest(), context, {codeOnly: true})
    for (const host of hosts) await writeFile(join(host.root, 'runs', run, 'outputs', 'go'), '')
  }
  const {trained, lines} = await setup.train(program('old'), {
    spec: {restarts: 1},
    onLines: (seen, run) => {
      if (changed === undefined && [0, 1].every((rank) => textOf(seen, rank).length > 0)) changed = change(run)
    },
  })
  await changed
  expect(trained).toMatchObject({status: 'finished', attempts: 2})
  // the word is twice in its script
  for (const rank of [0, 1]) expect(textOf(lines, rank)).toEqual(['old first 2', 'old first 2'])
  const runs = openRuns({rack: setup.rack.rack, fleet: setup.rack.fleet()}, context)
  const {code} = await runs.show(trained.run, {})
  expect(code).toEqual([
    {
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      files: 2,
      bytes: expect.any(Number),
      nodes: ['node-1', 'node-2'],
      snapshots: {},
      unsaved: {},
    },
  ])
  await rm(join(setup.folder, 'flexrack_probe.py'))
})

test('Ctrl-C lets the ranks save their state, and nothing of the run is left', async () => {
  const interrupt = new AbortController()
  const script = `import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(0)))\n${FOREVER}`
  const {trained, lines} = await setup.train(script, {
    context: {signal: interrupt.signal},
    onLines: (seen) => allUp(seen) && interrupt.abort(),
  })
  expect(trained.status).toBe('stopped')
  expect(trained.left).toEqual({'node-1': [], 'node-2': []})
  for (const rank of [0, 1]) expect(textOf(lines, rank)).toContain('saved')
  expect(await setup.alive(trained.run)).toEqual([])
})

test('a second Ctrl-C does not wait for ranks that ignore SIGTERM', async () => {
  const [interrupt, kill] = [new AbortController(), new AbortController()]
  const {trained} = await setup.train(
    `import signal\nsignal.signal(signal.SIGTERM, lambda *_: print("no", flush=True))\n${FOREVER}`,
    {
      spec: {grace: 600},
      context: {signal: interrupt.signal, kill: kill.signal},
      onLines: (seen) => {
        if (allUp(seen)) interrupt.abort()
        if (seen.some((line) => line.text === 'no')) kill.abort()
      },
    },
  )
  expect(trained.status).toBe('stopped')
  expect(await setup.alive(trained.run)).toEqual([])
})

test('when only the terminal goes away the run goes on, and can be followed and stopped later', async () => {
  const gone = new AbortController()
  const {trained} = await setup.train(FOREVER, {
    context: {signal: gone.signal},
    onLines: (seen) => allUp(seen) && gone.abort(new StopRequest('terminal')),
  })
  expect(trained.status).toBe('running')
  expect((await setup.alive(trained.run)).length).toBeGreaterThan(0)
  const context = makeContext({env: setup.rack.env})
  const runs = openRuns({rack: setup.rack.rack, fleet: setup.rack.fleet()}, context)
  const run = await runs.find(trained.run.slice(0, -1))
  expect(await stopRun(runs.place, run, {}, context)).toMatchObject({
    status: 'stopped',
    left: {'node-1': [], 'node-2': []},
  })
  expect((await runs.wait(run, 10)).result?.status).toBe('stopped')
  expect(await setup.alive(trained.run)).toEqual([])
})

test('following over a connection that is cut again and again loses and repeats nothing', async () => {
  const relays = await Promise.all(setup.rack.rack.nodes.map((node) => startTcpRelay(node.port as number)))
  const nodes = await Promise.all(
    setup.rack.rack.nodes.map(async (node, index) => {
      const port = relays[index]?.port as number
      const known = await readFile(node.knownHosts as string, 'utf8')
      const knownHosts = join(setup.folder, `known_hosts-${node.name}`)
      await writeFile(knownHosts, known.replaceAll(`]:${node.port} `, `]:${port} `))
      return {...node, port, knownHosts}
    }),
  )
  const script =
    'import os, time\nfor i in range(20000):\n    print(i, "x" * (i % 90))\n    if i % 500 == 0: time.sleep(0.03)\n'
  const rack = {...setup.rack.rack, nodes}
  const fleet = openFleet(nodes, makeContext({env: setup.rack.env}))
  let cuts = 0
  const {trained, lines} = await setup.train(script, {
    rack,
    fleet,
    onLines: (seen) => {
      if (seen.length < (cuts + 1) * 4000 || cuts >= 4) return
      cuts++
      for (const relay of relays) relay.cut()
    },
  })
  await fleet.close()
  await Promise.all(relays.map((relay) => relay.stop()))
  expect(cuts).toBeGreaterThanOrEqual(3)
  expect(trained.status).toBe('finished')
  const expected = Array.from({length: 20000}, (_, i) => `${i} ${'x'.repeat(i % 90)}`)
  for (const rank of [0, 1]) expect(digest(textOf(lines, rank))).toBe(digest(expected))
  // And the same again from the files, when all is over.
  const context = makeContext({env: setup.rack.env})
  const runs = openRuns({rack: setup.rack.rack, fleet: setup.rack.fleet()}, context)
  const again: RankLine[] = []
  await followRun(
    runs.place,
    await runs.find(trained.run),
    {follow: false, rank: 1, onLines: (some) => again.push(...some)},
    context,
  )
  expect(digest(again.map((line) => line.text))).toBe(digest(expected))
})

test('two runs at once on the same nodes do not disturb each other', async () => {
  const script = 'import os, time\ntime.sleep(0.5)\nprint(os.environ["FLEXRACK_RUN"])\n'
  const both = await Promise.all([setup.train(script), setup.train(script, {choice: {name: 'other'}})])
  for (const {trained, lines} of both) {
    expect(trained.status).toBe('finished')
    expect(lines.map((line) => line.text)).toEqual([trained.run, trained.run])
  }
  expect(both[1]?.trained.run).toMatch(/^other-/)
})

test('what --dry-run prints is what would be done, and it starts nothing', async () => {
  await writeFile(join(setup.folder, 'train.py'), 'print(1)\n')
  const context = makeContext({env: setup.rack.env})
  const place = {manifest: await setup.manifest(), rack: setup.rack.rack, fleet: setup.rack.fleet()}
  const {plan, spec} = await planTrain(place, {args: [], tracking: true}, context)
  expect(
    plan.steps
      .filter((step) => !step.kind.startsWith('workspace.'))
      .map((step) => [step.id, step.needs.filter((id) => !/^(sync|environment):/.test(id))]),
  ).toEqual([
    ['reach', []],
    ['reserve', ['reach']],
    ['route', []],
    ['preflight', ['reach', 'reserve', 'route']],
    ['track', ['reach', 'reserve', 'route', 'preflight']],
    ['start:node-1', ['reach', 'reserve', 'route', 'preflight', 'track']],
    ['start:node-2', ['reach', 'reserve', 'route', 'preflight', 'track', 'start:node-1']],
  ])
  expect(
    plan.steps.filter((step) => step.kind.startsWith('workspace.')).every((step) => step.needs.includes('reserve')),
  ).toBe(true)
  // It says that the gang has one, and where that comes from.
  expect(JSON.stringify(plan).replaceAll('"secret":{"$env":"secret"}', '')).not.toMatch(/secret|token/i)
  const runs = await openRuns(place, context).list({all: true, limit: 100})
  expect(runs.runs.map((one) => one.run)).not.toContain(spec.run)
})

test('a rack without a head is told before anything is sent or built', async () => {
  const missing = setup.train('print(1)\n', {
    choice: {tracking: true},
    requirements: 'no-such-package-of-anybody==1.0\n',
  })
  await expect(missing).rejects.toMatchObject({
    code: 'HEAD_FAILED',
    hint: expect.stringContaining('flexrack head start'),
  })
})

test('runs are listed, shown and removed from the files on the nodes where there is no head', async () => {
  // Both have begun before one ends: a rank that ends with its gang before it began has left no record.
  const met = await mkdtemp(join(tmpdir(), 'flexrack-met-'))
  const {trained} = await setup.train(`import os, pathlib, time
met = pathlib.Path(${JSON.stringify(met)})
(met / os.environ["RANK"]).touch()
while len(list(met.iterdir())) < 2: time.sleep(0.05)
raise SystemExit(2)
`)
  await rm(met, {recursive: true})
  const context = makeContext({env: setup.rack.env})
  const runs = openRuns({rack: setup.rack.rack, fleet: setup.rack.fleet()}, context)
  const {runs: listed, away} = await runs.list({all: true, limit: 5})
  expect(away).toContain('no head')
  expect(listed[0]).toMatchObject({run: trained.run, status: 'failed', onNodes: true, recorded: null})
  const shown = await runs.show(trained.run)
  expect(shown).toMatchObject({status: 'failed', command: ['train.py'], worldSize: 2})
  expect(shown.ranks.map((rank) => rank.rank)).toEqual([0, 1])
  await runs.remove(await runs.find(trained.run))
  await expect(runs.find(trained.run)).rejects.toMatchObject({code: 'NOT_FOUND'})
})

function digest(lines: string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}
