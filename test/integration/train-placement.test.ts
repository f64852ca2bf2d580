import {existsSync} from 'node:fs'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, type CliError} from '../../src/lib/base/index.ts'
import type {Rack, RackNode} from '../../src/lib/rack/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type TrainChoice} from '../../src/lib/train/index.ts'
import {trainPlanText} from '../../src/cli/train/plan-text.ts'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

/**
 * Without GPUs (`gpus: 0`), as this machine has none: nodes are asked, chosen, reserved and ranks bound all the same.
 */
let up: TrainRack
beforeAll(async () => {
  up = await startTrainRack(2)
})
afterAll(() => up?.stop())

const SCRIPT = 'import os\nprint(os.environ["FLEXRACK_NODE"], repr(os.environ["CUDA_VISIBLE_DEVICES"]), flush=True)\n'
const [FIRST, SECOND] = ['node-1', 'node-2']
const choice = (parts: Partial<TrainChoice> = {}): TrainChoice => ({
  args: [],
  tracking: false,
  nodes: 1,
  gpus: 0,
  ...parts,
})

test('a run is placed, explained and bound, and --exclude is obeyed', async () => {
  const {trained, lines} = await up.train(SCRIPT, {choice: choice({exclude: FIRST})})
  expect(trained).toMatchObject({status: 'finished', nodes: [SECOND]})
  expect(textOf(lines, 0)).toEqual([`${SECOND} ''`])
  const place = {manifest: await up.manifest({gpus: 0}), rack: up.rack.rack, fleet: up.rack.fleet()}
  const plan = await planTrain(place, choice({exclude: FIRST, look: true}), makeContext({env: up.rack.env}))
  expect(plan.spec.chosen?.reasons).toEqual([
    {node: FIRST, taken: false, why: `It is left out by --exclude ${FIRST}.`},
    {node: SECOND, taken: true, why: 'It is free, and among those that are the next in the rack file.'},
  ])
  expect(plan.spec.placements[0]?.placed?.[0]).toMatchObject({rank: 0, gpus: [], cpus: expect.stringMatching(/^\d/)})
  expect(trainPlanText(plan)).toContain(`${FIRST}: It is left out by --exclude`)
  await expect(planTrain(place, choice({gpus: 1}), makeContext({env: up.rack.env}))).rejects.toMatchObject({
    code: 'GPU_UNAVAILABLE',
    message: expect.stringContaining('It has no GPUs'),
  })
})

test('a node that does not answer is left out where others suffice, and named where not', async () => {
  const dead: RackNode = {...(up.rack.rack.nodes[0] as RackNode), name: 'dead', port: 1}
  const rack: Rack = {...up.rack.rack, nodes: [dead, ...up.rack.rack.nodes]}
  const context = makeContext({env: up.rack.env})
  const fleet = openFleet(rack.nodes, context)
  try {
    const place = {manifest: await up.manifest(), rack, fleet}
    const plan = await planTrain(place, choice({nodes: 2}), context)
    expect(plan.spec.placements.map((one) => one.node.name)).toEqual([FIRST, SECOND])
    expect(plan.spec.chosen?.reasons[0]).toMatchObject({
      node: 'dead',
      taken: false,
      why: expect.stringMatching(/^It cannot be asked: /),
    })
    const error = await planTrain(place, choice({nodes: 3}), context).catch((one: unknown) => one as CliError)
    expect(error).toMatchObject({
      code: 'NODE_UNFIT',
      details: {placement: [{node: 'dead'}, {node: FIRST}, {node: SECOND}]},
    })
  } finally {
    await fleet.close()
  }
})

test('without GPUs, too, a dead node among the first ones costs the run nothing where others are free; of nodes that were named each is meant', async () => {
  const dead: RackNode = {...(up.rack.rack.nodes[0] as RackNode), name: 'dead', port: 1}
  const rack: Rack = {...up.rack.rack, nodes: [dead, ...up.rack.rack.nodes]}
  const context = makeContext({env: up.rack.env})
  const fleet = openFleet(rack.nodes, context)
  try {
    const {trained} = await up.train('print("here")\n', {rack, fleet, spec: {nodes: 2}})
    expect(trained).toMatchObject({status: 'finished', nodes: [FIRST, SECOND]})
    await expect(up.train('print("here")\n', {rack, fleet, spec: {nodes: 3}})).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining('dead'),
    })
    await expect(up.train('print("here")\n', {rack, fleet, choice: {on: `dead,${FIRST}`}})).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
    })
  } finally {
    await fleet.close()
  }
})

test('of two runs that chose the same node the second chooses another; a third is told, or stands in line', async () => {
  const go = join(up.folder, 'go')
  await writeFile(
    join(up.folder, 'train.py'),
    `import os, time\nprint("up", flush=True)\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.02)\n`,
  )
  const context = makeContext({env: up.rack.env})
  const place = {manifest: await up.manifest(), rack: up.rack.rack, fleet: up.rack.fleet()}
  const plans = [
    await planTrain(place, choice({exclusive: true}), context),
    await planTrain(place, choice({exclusive: true}), context),
  ]
  expect(plans.map((one) => one.spec.placements[0]?.node.name)).toEqual([FIRST, FIRST])
  const running: Promise<unknown>[] = []
  const nodes: string[][] = []
  for (const plan of plans) {
    const started = Promise.withResolvers<void>()
    const run = runPlan(plan, place, {detach: false, onLines: () => started.resolve()}, context)
    running.push(run.then((one) => nodes.push(one.nodes)))
    await Promise.race([started.promise, run])
  }
  expect(existsSync(go)).toBe(false) // both run, so the second has chosen again
  await expect(planTrain(place, choice({exclusive: true}), context)).rejects.toMatchObject({
    code: 'RESERVED',
    message: expect.stringContaining('has the whole node'),
  })
  const later = await planTrain(place, choice({exclusive: true, wait: 0.1}), context)
  expect(later.spec.chosen).toMatchObject({
    waits: true,
    reasons: [
      {taken: true, why: expect.stringMatching(/has the whole node\. The run stands in line for it\.$/)},
      {taken: false},
    ],
  })
  await writeFile(go, '')
  await Promise.all(running)
  expect(nodes.flat().toSorted()).toEqual([FIRST, SECOND])
})
