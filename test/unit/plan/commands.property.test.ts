import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import fc from 'fast-check'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, ownerName, type Context} from '../../../src/lib/base/index.ts'
import {ENROLL_HANDLERS, planAdd, planRemove} from '../../../src/lib/enroll/index.ts'
import {RELEASE_HANDLERS as GPU_RELEASE_HANDLERS, releasePlan} from '../../../src/lib/gpu/release.ts'
import {planStop, STOP_HANDLERS} from '../../../src/lib/gpu/stop.ts'
import type {Lease} from '../../../src/lib/gpu/index.ts'
import {openHost, type Host} from '../../../src/lib/host/index.ts'
import {INSTALL_HANDLERS, planInstall, planUninstall} from '../../../src/lib/install/index.ts'
import {planOf} from '../../../src/lib/model/index.ts'
import {MODEL_HANDLERS} from '../../../src/lib/model/steps.ts'
import {executePlan, type Handlers, type KindsOf, type PlanOf} from '../../../src/lib/plan/index.ts'
import {planScaffold} from '../../../src/lib/project/index.ts'
import {SCAFFOLD_HANDLERS} from '../../../src/lib/project/scaffold.ts'
import type {NodeReservations} from '../../../src/lib/protocol/index.ts'
import {loadRack, type RackNode} from '../../../src/lib/rack/index.ts'
import {planRelease, RELEASE_HANDLERS} from '../../../src/lib/reservation/release.ts'
import type {Mlflow} from '../../../src/lib/tracking/index.ts'
import {rackNodes} from '../../support/planned-nodes.ts'
import {bounded} from '../../support/property.ts'
import {recordingFleet, type RecordingFleet} from '../../support/recording-fleet.ts'
import {throughJson} from '../../support/through-json.ts'

const context: Context = makeContext()
let folder: string
let count = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-commands-'))
})
afterAll(() => rm(folder, {recursive: true, force: true, maxRetries: 10}))

const word = fc.stringMatching(/^[a-z$][a-z0-9$]{0,6}$/)
const hostOf =
  (fleet: RecordingFleet, nodes: RackNode[]) =>
  (name: string): Promise<Host> =>
    openHost(fleet, nodes.find((one) => one.name === name) as RackNode, context)

/** What a plan gives, and what it has asked of others, as made and as read back: both must be the same. */
async function bothWays<K extends KindsOf<K>, E, A>(
  plan: PlanOf<K>,
  handlers: Handlers<K, E>,
  play: () => {env: E; asked: () => A | Promise<A>},
): Promise<{asked: A; values: unknown[]}> {
  expect(throughJson(plan)).toEqual(plan)
  const runs = []
  for (const one of [plan, throughJson(plan)]) {
    const {env, asked} = play()
    const outcomes = await executePlan(one, handlers, env, context)
    expect(outcomes.map(({step, status, error}) => [step.id, status, error])).toEqual(
      plan.steps.map(({id}) => [id, 'done', undefined]),
    )
    runs.push({asked: await asked(), values: outcomes.map((outcome) => outcome.value)})
  }
  expect(runs[1]).toEqual(runs[0])
  return runs[1] as {asked: A; values: unknown[]}
}

test('gpu stop asks every node, with the force that was planned', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({min: 1, max: 4}), fc.boolean(), fc.nat(2), async (size, force, leases) => {
      const nodes = rackNodes(size)
      const lease = (id: number) => ({
        lease: `l${id}`,
        state: 'held',
        owner: 'me',
        purpose: '',
        created: 0,
        ends_in_seconds: null,
        holder: null,
        devices: [],
        sessions: [],
      })
      const fleet = recordingFleet({
        'gpu.state': () => ({
          state: leases > 0 ? 'running' : 'absent',
          status: null,
          devices: [],
          leases: Array.from({length: leases}, (_, id) => lease(id)),
        }),
      })
      const {plan, failed} = await planStop(nodes, fleet, force, context)
      expect([failed, fleet.requested.map((one) => one.verb)]).toEqual([[], nodes.map(() => 'gpu.state')])
      expect(plan.steps.filter((step) => step.title.includes('only with --force'))).toHaveLength(
        leases > 0 && !force ? size : 0,
      )
      const {asked} = await bothWays(plan, STOP_HANDLERS, () => {
        const other = recordingFleet({'gpu.stop': () => ({stopped: true, leases})})
        return {
          env: {host: hostOf(other, nodes), context},
          asked: () => other.requested.toSorted((a, b) => (a.node < b.node ? -1 : 1)),
        }
      })
      expect(asked.map(({node, verb, input}) => [node, verb, input])).toEqual(
        nodes.map(({name}) => [name, 'gpu.stop', {force}]),
      )
    }),
    bounded('plans of gpu stop', {seconds: 5, runs: 30}),
  )
})

test('gpu release ends the leases that were found', async () => {
  const nodes = rackNodes(2)
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(word, {minLength: 1, maxLength: 3}), word, async (ids, purpose) => {
      const leases = ids.map(
        (lease, index): Lease =>
          ({
            node: `n${index % 2}`,
            lease,
            state: 'held',
            owner: 'me',
            purpose,
            created: 0,
            endsIn: null,
            holder: null,
            devices: [],
            programs: index,
          }) as unknown as Lease,
      )
      const {asked} = await bothWays(releasePlan(leases), GPU_RELEASE_HANDLERS, () => {
        const fleet = recordingFleet({'gpu.release': () => ({})})
        return {
          env: {host: hostOf(fleet, nodes), context},
          asked: () => new Set(fleet.requested.map(({node, input}) => `${node} ${input.lease as string}`)),
        }
      })
      expect(asked).toEqual(new Set(leases.map((one) => `${one.node} ${one.lease}`)))
    }),
    bounded('plans of gpu release', {seconds: 5, runs: 30}),
  )
})

test('rack install and uninstall', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({min: 1, max: 4}), fc.boolean(), fc.nat(20), async (size, force, grace) => {
      const nodes = rackNodes(size)
      const play = () => {
        const fleet = recordingFleet({'node.uninstall': () => ({removed: ['/x'], left: [], ended: 1})})
        return {
          env: {rack: {nodes}, fleet, ctx: context},
          asked: () => fleet.requested.toSorted((a, b) => (a.node < b.node ? -1 : 1)),
        }
      }
      const {values} = await bothWays(planInstall({name: 'lab'}, nodes), INSTALL_HANDLERS, play)
      expect(values).toEqual(nodes.map(({name}) => ({root: `/home/${name}`})))
      const found = recordingFleet({
        'node.installed': (node) => ({
          root: `/home/${node}`,
          entries: [
            {path: '/home/a', inside: true},
            {path: '/run/b', inside: false},
          ],
          alive: [{pid: 7, command: 'sleep'}],
          outside: ['a line in the crontab'],
        }),
      })
      const {plan} = await planUninstall({name: 'lab'}, nodes, found, context, {force, grace})
      expect(found.requested.map((one) => one.verb)).toEqual(nodes.map(() => 'node.installed'))
      expect(plan.steps[0]).toMatchObject({
        input: {paths: ['/home/a'], alive: [{pid: 7}]},
        title: expect.stringContaining(force ? 'and are ended' : 'only with --force'),
      })
      const {asked} = await bothWays(plan, INSTALL_HANDLERS, play)
      expect(asked.map(({node, verb, input}) => [node, verb, input])).toEqual(
        nodes.map(({name}) => [name, 'node.uninstall', {force, grace}]),
      )
    }),
    bounded('plans of rack install', {seconds: 5, runs: 20}),
  )
})

test('rack add and remove write the same file', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/), {minLength: 2, maxLength: 5}),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), word, {maxKeys: 2}),
      fc.nat(4),
      async (names, labels, taken) => {
        const path = join(folder, `rack-${count++}.yaml`)
        const nodes = names.map((name): RackNode => ({name, host: `${name}.example`, root: '~/.flexrack', labels}))
        const plan = await planAdd(path, nodes, {probe: true, trust: false})
        await expect(readFile(path)).rejects.toMatchObject({code: 'ENOENT'})
        const fleet = recordingFleet({})
        const env = {fleet, ctx: context}
        const first = await executePlan(plan, ENROLL_HANDLERS, env, context)
        expect(first.map((one) => one.error)).toEqual(first.map(() => undefined))
        const written = await readFile(path, 'utf8')
        expect(written).not.toMatch(/[&*]a1/)
        await rm(path)
        await executePlan(throughJson(plan), ENROLL_HANDLERS, env, context)
        expect(await readFile(path, 'utf8')).toBe(written)
        const gone = names.slice(0, Math.min(taken, names.length))
        const removal = planRemove(await loadRack(path, {}), gone, true)
        expect(throughJson(removal)).toEqual(removal)
        expect(await readFile(path, 'utf8')).toBe(written)
        await executePlan(throughJson(removal), ENROLL_HANDLERS, {fleet: undefined, ctx: context}, context)
        const rest = names.filter((name) => !gone.includes(name))
        if (gone.length === 0 || rest.length === 0) await expect(readFile(path)).rejects.toMatchObject({code: 'ENOENT'})
        else expect((await loadRack(path, {})).nodes.map((one) => one.name)).toEqual(rest)
      },
    ),
    bounded('plans of rack add', {seconds: 5, runs: 20}),
  )
})

test('rack release frees a lease once a node, as its owner, with the force that was planned', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({min: 1, max: 3}),
      fc.integer({min: 1, max: 2}),
      fc.constantFrom('confirmed' as const, 'running' as const),
      async (size, each, state) => {
        const nodes = rackNodes(size)
        const owner = ownerName(context)
        const reservation = {
          lease: 'digits-aaaaa',
          state,
          user: 'me',
          owner,
          project: 'digits',
          node: 'n',
          nodes: [],
          since: 0,
          over: '',
          here: true,
          wants: {gpus: [], slots: 2, exclusive: false},
          silent: 0,
          ends_in: null,
        }
        const value = {
          shared: true,
          damaged: 0,
          identity: 'm',
          reservations: Array.from({length: each}, () => reservation),
        } as unknown as NodeReservations
        const force = state === 'running'
        const {plan} = planRelease(
          nodes.map(({name}) => ({node: name, ok: true, value})),
          'digits',
          {force},
          context,
        )
        const {asked} = await bothWays(plan, RELEASE_HANDLERS, () => {
          const fleet = recordingFleet({'reservation.release': () => ({released: [], left: []})})
          return {
            env: {host: hostOf(fleet, nodes)},
            asked: () => fleet.requested.toSorted((a, b) => (a.node < b.node ? -1 : 1)),
          }
        })
        expect(asked.map(({node, input}) => [node, input])).toEqual(
          nodes.map(({name}) => [name, {lease: 'digits-aaaaa', owner, force}]),
        )
      },
    ),
    bounded('plans of rack release', {seconds: 5, runs: 30}),
  )
})

/** A registry that keeps what it is told; its model has the alias `old`, at version 1. */
function registry(): {mlflow: Mlflow; told: unknown[]} {
  const told: unknown[] = []
  const tell =
    (what: string) =>
    async (...given: unknown[]): Promise<void> =>
      void told.push([what, ...given])
  const mlflow = {
    ensureModel: tell('ensureModel'),
    setAlias: tell('setAlias'),
    deleteAlias: tell('deleteAlias'),
    deleteVersion: tell('deleteVersion'),
    deleteModel: tell('deleteModel'),
    getRun: async () => ({tags: {}}),
    getModel: async () => ({aliases: {old: '1'}}),
    openArtifact: async () =>
      (async function* () {
        yield Buffer.from('onnx')
      })(),
    createVersion: async (given: {name: string}) => (
      told.push(['createVersion', given]),
      {name: given.name, version: '2', aliases: []}
    ),
  }
  return {mlflow: mlflow as unknown as Mlflow, told}
}

test('model register, promote and remove tell the registry the same', async () => {
  const play = () => {
    const {mlflow, told} = registry()
    return {env: {mlflow, context}, asked: () => told}
  }
  await fc.assert(
    fc.asyncProperty(
      word,
      fc.option(word, {nil: undefined}),
      fc.option(fc.nat(100), {nil: undefined}),
      async (name, alias, bytes) => {
        const registered = await bothWays(
          planOf({
            registration: {name, run: {id: 'r', name: 'run-1'}, path: 'm.onnx', source: 's/m.onnx', bytes, alias},
          }),
          MODEL_HANDLERS,
          play,
        )
        expect(registered.asked).toEqual([
          ['ensureModel', name],
          [
            'createVersion',
            {
              name,
              source: 's/m.onnx',
              runId: 'r',
              tags: {
                'flexrack.run': 'run-1',
                'flexrack.path': 'm.onnx',
                'flexrack.sha256': expect.stringMatching(/^[0-9a-f]{64}$/),
              },
            },
          ],
          ...(alias === undefined ? [] : [['setAlias', name, alias, '2']]),
        ])
        const promoted = await bothWays(
          planOf({promotion: {name, version: '3', alias: 'old', previous: '1'}}),
          MODEL_HANDLERS,
          play,
        )
        expect([promoted.asked, promoted.values]).toEqual([[['setAlias', name, 'old', '3']], ['1']])
        expect(planOf({promotion: {name, version: '1', alias: 'old', previous: '1'}}).steps).toEqual([])
        const version = bytes === undefined ? undefined : '1'
        const removed = await bothWays(
          planOf({removal: {name, version, versions: ['1'], aliases: ['old']}}),
          MODEL_HANDLERS,
          play,
        )
        expect(removed.asked).toEqual(
          version === undefined
            ? [['deleteModel', name]]
            : [
                ['deleteAlias', name, 'old'],
                ['deleteVersion', name, '1'],
              ],
        )
      },
    ),
    bounded('plans of model', {seconds: 5, runs: 50}),
  )
})

test('init writes the same files', async () => {
  for (const template of ['plain', 'pytorch-ddp', 'pytorch-bench']) {
    const at = join(folder, `project-${template}`)
    const plan = await planScaffold({folder: at, template})
    expect(throughJson(plan)).toEqual(plan)
    await expect(readdir(at)).rejects.toMatchObject({code: 'ENOENT'})
    const outcomes = await executePlan(throughJson(plan), SCAFFOLD_HANDLERS, null, context)
    expect(outcomes.map((one) => one.error)).toEqual(outcomes.map(() => undefined))
    for (const {input} of plan.steps) expect(await readFile(join(at, input.path), 'utf8')).toBe(input.text)
    // What has come into being meanwhile is not written over.
    const again = await executePlan(plan, SCAFFOLD_HANDLERS, null, context)
    expect(again.map((one) => (one.error as NodeJS.ErrnoException | undefined)?.code)).toEqual(
      plan.steps.map(() => 'EEXIST'),
    )
  }
})
