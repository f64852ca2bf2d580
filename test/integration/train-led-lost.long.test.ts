import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {newsTeller} from '../../src/cli/runs/follow.ts'
import {makeContext, silentReporter} from '../../src/lib/base/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {openRuns, type RunNews, type Runs} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'

/** Ranks of the first attempt wait until they are ended; those of later ones leave an output. */
const SCRIPT = `
import os, time
from pathlib import Path
attempt, rank = os.environ["FLEXRACK_ATTEMPT"], os.environ["RANK"]
print("up in attempt", attempt, flush=True)
while attempt == "1": time.sleep(0.05)
(Path(os.environ["FLEXRACK_OUTPUTS"]) / f"model-{rank}.onnx").write_text(attempt)
`

describe.skipIf(!mayMakeNetworks())("a run whose leader's node loses its network", () => {
  let net: TestNetRack
  let folder: string
  const fleets: Fleet[] = []
  beforeAll(async () => {
    net = await startNetRack(4, await sharedEnvironments())
    folder = await mkdtemp(join(tmpdir(), 'flexrack-led-'))
  }, 60_000)
  afterAll(async () => {
    await Promise.all(fleets.map((one) => one.close()))
    await net?.stop()
    if (folder) await rm(folder, {recursive: true, force: true})
  })

  test('ends well for who follows, watches and waits, and for who comes later', {timeout: 300_000}, async () => {
    const reported: string[] = []
    const context = makeContext({
      env: process.env,
      reporter: {
        ...silentReporter,
        warn: (message) => void reported.push(message),
        note: (message) => void reported.push(message),
      },
    })
    const quiet = makeContext({env: process.env})
    const open = (): Fleet => {
      const fleet = openFleet(net.rack.nodes, quiet)
      fleets.push(fleet)
      return fleet
    }
    await writeFile(join(folder, 'train.py'), SCRIPT)
    const manifest: Manifest = {
      path: join(folder, 'flexrack.yaml'),
      folder,
      name: 'proj',
      workspace: {exclude: [], forward: [], env: {}},
      train: {
        command: ['train.py'],
        launcher: 'plain',
        nodes: 3,
        processesPerNode: 1,
        restarts: 0,
        outputs: [],
        env: {},
        grace: 5,
        spares: 1,
      },
      tracking: {experiment: 'proj'},
      endpoints: {},
    }
    const place = {manifest, rack: net.rack, fleet: open()}
    const plan = await planTrain(place, {args: [], tracking: false, preflight: {skip: [], force: true}}, quiet)
    const others: Runs[] = [0, 1, 2].map(() => openRuns({rack: net.rack, fleet: open(), manifest}, quiet))
    const [waiting, watching, late] = others as [Runs, Runs, Runs]
    const ends: Promise<unknown>[] = []
    const lose = async (name: string): Promise<void> => {
      const run = await waiting.find(name)
      ends.push(
        waiting.wait(run, undefined),
        watching.watch(run, {every: 2, onView: () => {}, signal: quiet.signal}, quiet),
      )
      net.link('node-1', 'down')
      ends.push(late.find(name).then((found) => late.wait(found, undefined)))
    }
    let up = 0
    const news: RunNews[] = []
    const tell = newsTeller(context)
    const trained = await runPlan(
      plan,
      place,
      {
        detach: false,
        onLines: (lines) => {
          up += lines.filter((line) => line.text === 'up in attempt 1').length
          if (up === 3 && ends.length === 0) ends.push(lose(plan.spec.run))
        },
        onNews: (one) => {
          news.push(one)
          tell(one)
        },
      },
      context,
    )
    expect(trained).toMatchObject({
      status: 'finished',
      exit: 0,
      leader: 'node-2',
      attempts: 2,
      left: {'node-2': [], 'node-3': [], 'node-4': []},
    })
    expect(Object.keys(trained.left)).not.toContain('node-1')
    expect(reported).toContain(
      'node-2 leads the run from now on, chosen by node-2, node-3 and node-4, in the place of node-1',
    )
    expect(reported.filter((line) => line.includes('leads the run'))).toHaveLength(1)
    expect(reported).toContain(
      `node-1 does not answer, and the run is over; whether anything of it is left there is told, once it answers, by: flexrack runs stop ${trained.run}`,
    )
    await ends[0]
    const [, waited, watched, found] = await Promise.all(ends)
    expect(waited).toMatchObject({node: 'node-2', result: {status: 'finished'}})
    expect(watched).toMatchObject({status: 'finished', attempt: 2, lost: ['node-1']})
    expect(found).toMatchObject({node: 'node-2', result: {status: 'finished'}})
    await Promise.all(others.map((one) => one.close()))
  })

  test(
    'is stopped by Ctrl-C where it can be reached, and says what is not known of the node that cannot',
    {timeout: 300_000},
    async () => {
      const [reported, interrupt] = [[] as string[], new AbortController()]
      const progress = (title: string) => ({
        detail() {},
        amount() {},
        done: (text?: string) => void reported.push(text ?? title),
        fail: (text?: string) => void reported.push(`failed: ${text ?? title}`),
      })
      const context = makeContext({
        env: process.env,
        signal: interrupt.signal,
        reporter: {...silentReporter, begin: progress, warn: (message) => void reported.push(message)},
      })
      const fleet = openFleet(net.rack.nodes, makeContext({env: process.env}))
      fleets.push(fleet)
      await writeFile(join(folder, 'train.py'), SCRIPT)
      const manifest: Manifest = {
        path: join(folder, 'flexrack.yaml'),
        folder,
        name: 'proj',
        workspace: {exclude: [], forward: [], env: {}},
        train: {
          command: ['train.py'],
          launcher: 'plain',
          nodes: 2,
          processesPerNode: 1,
          restarts: 0,
          outputs: [],
          env: {},
          grace: 5,
        },
        tracking: {experiment: 'proj'},
        endpoints: {},
      }
      const place = {manifest, rack: net.rack, fleet}
      const plan = await planTrain(
        place,
        {args: [], on: 'node-3,node-4', tracking: false, preflight: {skip: [], force: true}},
        context,
      )
      const {run} = plan.spec
      let up = 0
      const ended = runPlan(
        plan,
        place,
        {
          detach: false,
          onLines: (lines) => {
            up += lines.filter((line) => line.text === 'up in attempt 1').length
            if (up < 2 || interrupt.signal.aborted) return
            net.link('node-3', 'down')
            interrupt.abort()
          },
        },
        context,
      )
      await expect(ended).rejects.toThrow(
        expect.objectContaining({
          code: 'INTERRUPTED',
          exitCode: 130,
          hint: `flexrack runs stop ${run}`,
          details: {run, left: {'node-4': []}, unreached: ['node-3']},
          message: `run ${run} was stopped on node-4; how it ended is not known, because node-3 could not be reached`,
        }),
      )
      expect(reported).toContain('Stopped: no process of the run is left on node-4')
      expect(reported).toContain(
        `node-3 could not be reached; whether anything of run ${run} is left there is told, once it answers, by: flexrack runs stop ${run}`,
      )
      expect(reported.filter((line) => line.startsWith('failed: ') || line.includes('does not answer'))).toEqual([])
      net.link('node-3', 'up')
    },
  )
})
