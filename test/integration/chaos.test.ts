import {appendFileSync, mkdirSync, readFileSync} from 'node:fs'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {connectHead, startHead} from '../../src/lib/head/index.ts'
import {headRequirements} from '../../src/lib/head/requirements.ts'
import {saveRack, type Rack} from '../../src/lib/rack/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {openMlflow} from '../../src/lib/tracking/index.ts'
import {buildEnvironments} from '../support/built-environments.ts'
import {machinesOf} from '../support/chaos/machines.ts'
import {broken, promiseOf, type Seen} from '../support/chaos/promise.ts'
import {doneRanks, leasesOf, playRound, type Group, type Played} from '../support/chaos/round.ts'
import {scenarioOf, tell, type Scenario} from '../support/chaos/scenario.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {buildProgram} from '../support/program.ts'
import {chosenSeed} from '../support/property.ts'

/**
 * What the gate plays: between them they hit wrapper, node, command, sessions, supervisor, link, worker and sshd, in
 * every phase, once under torchrun. No fewer do.
 */
const GATE = ['FLEXRACK_LONG', 'FLEXRACK_ROUNDS', 'FLEXRACK_SEED'].some((name) => process.env[name])
  ? ''
  : '20261123,20261127,20261128,20261132,20261133'
/**
 * FLEXRACK_ROUNDS=200 plays more; FLEXRACK_SEED=N begins with that seed, so that with FLEXRACK_ROUNDS=1 a failed round
 * is played alone; FLEXRACK_SEEDS=3,17 plays these.
 */
const CHOSEN = (process.env.FLEXRACK_SEEDS ?? GATE).split(',').filter(Boolean).map(Number)
const ROUNDS = CHOSEN.length || Number(process.env.FLEXRACK_ROUNDS ?? 12)
const SEED = CHOSEN[0] ?? chosenSeed()
/** Groups of nodes play at the same time: most of a round is waiting. The gate's few rounds are not worth a third one. */
const GROUPS = Math.min(ROUNDS, Number(process.env.FLEXRACK_GROUPS ?? (GATE === '' ? 3 : 2)))
const NODES = 3
const CHOICE = {nodes: NODES, torchrun: Number(process.env.FLEXRACK_TORCHRUN ?? 0.1), tracked: 0.3}
const HEAD = `node-${GROUPS * NODES + 1}`
/** The same environment as other tests have, so that it is built once a machine. */
const TORCH = readFileSync(join(import.meta.dirname, '../../templates/pytorch-ddp/requirements.txt'), 'utf8')

describe.skipIf(!mayMakeNetworks())('whatever is killed', () => {
  let net: TestNetRack
  let folder: string
  const groups: Group[] = []

  beforeAll(async () => {
    buildProgram()
    folder = await mkdtemp(join(tmpdir(), 'flexrack-chaos-'))
    const reservations = join(folder, 'reservations')
    net = await startNetRack(GROUPS * NODES + 1, await sharedEnvironments(), (node) => ({
      FLEXRACK_RESERVATIONS: join(reservations, node),
    }))
    for (const node of net.rack.nodes) mkdirSync(join(reservations, node.name), {recursive: true, mode: 0o700})
    const machines = machinesOf(net, reservations)
    for (let index = 0; index < GROUPS; index++) {
      const nodes = net.rack.nodes.slice(index * NODES, (index + 1) * NODES)
      const place = join(folder, `group-${index}`)
      mkdirSync(join(place, 'project'), {recursive: true, mode: 0o700})
      const rack: Rack = {
        name: `group-${index}`,
        path: join(place, 'rack.yaml'),
        nodes: [...nodes, ...net.rack.nodes.filter((node) => node.name === HEAD)],
        head: {node: HEAD, bind: net.addresses[HEAD] as string},
      }
      await saveRack(rack)
      const env = {...process.env, FLEXRACK_HOME: join(place, 'home')}
      groups.push({
        machines,
        rack,
        nodes: nodes.map((node) => node.name),
        folder: join(place, 'project'),
        env,
        context: makeContext({env}),
        requirements: TORCH,
      })
    }
    const {rack, context} = groups[0] as Group
    await buildEnvironments([headRequirements({}), ...(CHOICE.torchrun > 0 ? [TORCH] : [])])
    const fleet = openFleet(rack.nodes, context)
    await startHead(rack, fleet, context)
    await fleet.close()
  }, 900_000)

  afterAll(async () => {
    for (const node of net?.rack.nodes ?? []) await groups[0]?.machines.powerOff(node.name)
    await net?.stop()
    await rm(folder, {recursive: true, force: true})
  }, 120_000)

  test(
    `of a run or a machine, it ends or recovers, tells the truth and leaves nothing: ${ROUNDS} rounds from seed ${SEED}`,
    {timeout: ROUNDS * 240_000, retry: 0},
    async () => {
      const bad: string[] = []
      const waiting = CHOSEN.length > 0 ? [...CHOSEN] : Array.from({length: ROUNDS}, (_, round) => SEED + round)
      let next = Math.max(...waiting) + 1
      await Promise.all(
        groups.map(async (group) => {
          for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
            const scenario = scenarioOf(seed, CHOICE)
            const found = await play(scenario, group).catch((error: Error) => [
              `it could not be played: ${error.message}`,
            ])
            if (found.length > 0)
              bad.push(
                `FLEXRACK_SEED=${scenario.seed} FLEXRACK_ROUNDS=1: ${tell(scenario)}\n    ${found.join('\n    ')}`,
              )
          }
        }),
      )
      expect(bad.join('\n'), `${bad.length} of ${ROUNDS} rounds`).toBe('')
      // What a killed command had reserved has expired, and is cleared away by whoever reserves next.
      const calm = {...scenarioOf(next, CHOICE), phase: 'start' as const, launcher: 'plain' as const, blows: []}
      for (const group of groups)
        if (leasesOf(group, '').length > 0) expect(await play({...calm, seed: next++}, group)).toEqual([])
      for (const group of groups)
        expect(
          leasesOf(group, '').map((one) => one.file),
          'leases that the next run has not cleared away',
        ).toHaveLength(0)
    },
  )
})

/** Every promise that was broken. */
async function play(scenario: Scenario, group: Group): Promise<string[]> {
  const worldSize = (NODES - scenario.spares) * (scenario.launcher === 'torchrun' ? 2 : 1)
  const started = Date.now()
  const played = await playRound(scenario, group, (hit) => promiseOf(scenario, hit).seconds)
  const record = scenario.tracked && played.run ? await recordOf(group, played.run) : undefined
  const seen: Seen = {...played, done: doneRanks(group, played.run), record}
  const found = broken(scenario, seen, group.nodes, worldSize)
  report(scenario, played, found, Date.now() - started)
  return found.length > 0
    ? [
        ...found,
        `run ${played.run}, hit ${played.hit.join()}, the command: ${played.command.status ?? played.command.signal}:`,
        ...played.command.output.trim().split('\n').slice(-15),
      ]
    : []
}

async function recordOf({rack, context}: Group, run: string): Promise<{status: string} | undefined> {
  const fleet = openFleet(rack.nodes, context)
  try {
    const head = await connectHead(rack, fleet, context)
    const mlflow = openMlflow({uri: head.uri, token: head.token})
    const experiments = await mlflow.searchExperiments()
    const runs = await mlflow.searchRuns({experimentIds: experiments.map((one) => one.id), limit: 1000})
    await head.close()
    return runs.find((one) => one.tags['flexrack.run'] === run)
  } finally {
    await fleet.close()
  }
}

/** A line a round, for who counts: FLEXRACK_CHAOS_REPORT names the file. */
function report(scenario: Scenario, played: Played, found: string[], milliseconds: number): void {
  const line = {
    ...scenario,
    hit: played.hit,
    late: played.late,
    end: played.shown?.status ?? 'absent',
    exit: played.command.status ?? played.command.signal,
    settledAfter: played.settledAfter,
    milliseconds,
    expired: played.expired,
    broken: found,
  }
  if (process.env.FLEXRACK_CHAOS_REPORT) appendFileSync(process.env.FLEXRACK_CHAOS_REPORT, `${JSON.stringify(line)}\n`)
}
