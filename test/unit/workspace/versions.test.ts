import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {openHost, type Host} from '../../../src/lib/host/index.ts'
import type {Manifest} from '../../../src/lib/manifest/types.ts'
import {upWorkspace} from '../../../src/lib/workspace/index.ts'
import {rackNodes, trainingAnswers} from '../../support/planned-nodes.ts'
import {recordingFleet, type RecordingFleet} from '../../support/recording-fleet.ts'

let folder: string
const context = makeContext()
const RESOLVED = 'six==1.16.0\n'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-versions-'))
  await writeFile(join(folder, 'requirements.txt'), 'six\n')
  await writeFile(join(folder, 'locked.txt'), `six==1.16.0 \\\n    --hash=sha256:${'0'.repeat(64)}\n`)
})
afterAll(() => rm(folder, {recursive: true}))

/** What three nodes are asked while this project comes up on them. `there`: nodes that have the environment. */
async function asked(
  workspace: Partial<Manifest['workspace']>,
  there: string[] = [],
): Promise<RecordingFleet['requested']> {
  const fleet = recordingFleet({
    ...trainingAnswers,
    'environment.resolve': () => ({pins: RESOLVED}),
    'workspace.inspect': (node, input) => {
      const answer = trainingAnswers['workspace.inspect']?.(node, input) as {environment?: object}
      return {
        ...answer,
        ...(answer.environment && {
          environment: {...answer.environment, ready: there.includes(node), noted: there.includes(node)},
        }),
      } as never
    },
  })
  const hosts: Host[] = await Promise.all(rackNodes(3).map((node) => openHost(fleet, node, context)))
  const manifest: Manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'proj',
    workspace: {exclude: [], forward: [], env: {}, ...workspace},
    tracking: {experiment: 'proj'},
    endpoints: {},
  }
  await upWorkspace(hosts, manifest, context)
  return fleet.requested
}

it('has one node choose the versions, once, and gives them to all', async () => {
  const requested = await asked({python: 'requirements.txt'})
  expect(requested.filter((one) => one.verb === 'environment.resolve').map(({node}) => node)).toEqual(['n0'])
  expect(
    requested
      .filter((one) => one.verb === 'environment.ensure')
      .map(({node, input}) => [node, input.pins])
      .sort(),
  ).toEqual([
    ['n0', RESOLVED],
    ['n1', RESOLVED],
    ['n2', RESOLVED],
  ])
})

it('has a node choose that has the environment already', async () => {
  const requested = await asked({python: 'requirements.txt'}, ['n1'])
  expect(requested.filter((one) => one.verb === 'environment.resolve').map(({node}) => node)).toEqual(['n1'])
  expect(
    requested
      .filter((one) => one.verb === 'environment.ensure')
      .map(({node}) => node)
      .sort(),
  ).toEqual(['n0', 'n2'])
})

it('asks nobody where versions are locked, or there are none', async () => {
  for (const python of ['locked.txt', undefined]) {
    const requested = await asked(python === undefined ? {} : {python})
    expect(requested.filter((one) => one.verb === 'environment.resolve')).toEqual([])
    expect(requested.filter((one) => one.verb === 'environment.ensure').map(({input}) => input.pins)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  }
})

it('asks for the Python that the manifest names, in the look, the choice and the build', async () => {
  const requested = await asked({python: 'requirements.txt', pythonVersion: '3.12'})
  const environments = requested.flatMap(({verb, input}) =>
    verb === 'workspace.inspect'
      ? [(input.environment as {python?: string} | undefined)?.python]
      : verb.startsWith('environment.')
        ? [input.python]
        : [],
  )
  expect(environments).toEqual(Array.from({length: 7}, () => '3.12'))
})
