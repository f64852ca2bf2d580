import {expect, test} from 'vitest'
import {
  activeRelease,
  isUnfinished,
  keptReleases,
  newDocument,
  nextReleaseId,
  nodesOf,
  previousRelease,
  pruned,
  putRelease,
  settled,
  switchTo,
  type EndpointDocument,
  type Release,
} from '../../../src/lib/endpoint/document.ts'
import {serviceId} from '../../../src/lib/endpoint/placement.ts'

const now = new Date('2026-01-02T03:04:05Z')

function release(id: string, parts: Partial<Release> = {}): Release {
  const replicas = [
    {index: 0, node: 'node-1', service: serviceId('digits', id, 0), url: `http://127.0.0.1:2000${id.slice(1)}`},
  ]
  return {
    id,
    model: {name: 'digits', version: id.slice(1), files: []},
    runtime: 'onnx',
    state: 'starting',
    replicas,
    createdAt: now.toISOString(),
    by: 'me@here',
    kept: true,
    ...parts,
  }
}

/** r1, r2, … each deployed and switched to in turn. */
function deployed(...ids: string[]): EndpointDocument {
  return ids.reduce(
    (document, id) => settled(switchTo(putRelease(document, release(id)), release(id), now, false), ''),
    newDocument('digits', now),
  )
}

test('release numbers go on, also after failed ones', () => {
  expect(nextReleaseId(newDocument('digits', now))).toBe('r1')
  expect(nextReleaseId(putRelease(deployed('r1', 'r2'), release('r10', {state: 'failed'})))).toBe('r11')
})

test('a switch sends traffic to every replica and drains what served', () => {
  const two = release('r2', {pending: ['node-1']})
  const document = switchTo(putRelease(deployed('r1'), two), two, now, false)
  expect(document.active).toEqual({release: 'r2', targets: ['http://127.0.0.1:20002']})
  expect(document.releases.map((one) => [one.id, one.state, one.pending])).toEqual([
    ['r2', 'active', undefined],
    ['r1', 'draining', undefined],
  ])
  expect(isUnfinished(document)).toBe(true)
  expect(isUnfinished(settled(document, ''))).toBe(false)
})

test('a rollback goes to the newest good release before the active one', () => {
  const document = putRelease(deployed('r1', 'r2', 'r4'), release('r3', {state: 'failed'}))
  expect(previousRelease(document)?.id).toBe('r2')
  expect(previousRelease(deployed('r1'))).toBeUndefined()
})

test('a release that was rolled back from is passed over by later rollbacks', () => {
  const back = settled(switchTo(deployed('r1', 'r2'), release('r1'), now, true), '')
  expect(activeRelease(back)?.id).toBe('r1')
  expect(previousRelease(back)).toBeUndefined()
  const third = release('r3')
  const forward = settled(switchTo(putRelease(back, third), third, now, false), '')
  expect(previousRelease(forward)?.id).toBe('r1')
})

test('after a crash what never served has failed and what served is stopped', () => {
  const document = putRelease(
    putRelease(deployed('r1'), release('r2', {pending: ['node-2']})),
    release('r3', {activeAt: now.toISOString()}),
  )
  expect(settled(document, 'cut off').releases.map((one) => [one.id, one.state, one.reason, one.pending])).toEqual([
    ['r3', 'stopped', undefined, undefined],
    ['r2', 'failed', 'cut off', undefined],
    ['r1', 'active', undefined, undefined],
  ])
  expect(nodesOf(document)).toEqual(['node-1', 'node-2'])
})

test('the active release and the newest that one may go back to keep their files, five in all', () => {
  const document = deployed('r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7')
  const back = settled(switchTo(document, release('r3'), now, true), '')
  expect(keptReleases(back)).toEqual(['r3', 'r6', 'r5', 'r4', 'r2'])
  expect(
    pruned(back)
      .releases.filter((one) => one.kept)
      .map((one) => one.id),
  ).toEqual(['r6', 'r5', 'r4', 'r3', 'r2'])
})

test('releases that were taken back take no files from those before, and push none of them out of what is known', () => {
  let document = deployed('r1', 'r2')
  for (let id = 3; id < 30; id++)
    document = pruned(putRelease(document, release(`r${id}`, {state: 'stopped', rejected: true})))
  expect(activeRelease(document)?.id).toBe('r2')
  expect(previousRelease(document)?.id).toBe('r1')
  expect(keptReleases(document)).toEqual(['r2', 'r1'])
  expect(document.releases).toHaveLength(22)
})

test("a project's own server whose code was removed is nothing to go back to; a model is fetched again", () => {
  const custom = {runtime: 'custom', custom: {command: [], places: {}} as never, kept: false, state: 'stopped'} as const
  expect(previousRelease(putRelease(deployed('r1', 'r2'), release('r1', custom)))).toBeUndefined()
  expect(previousRelease(putRelease(deployed('r1', 'r2'), release('r1', {kept: false, state: 'stopped'})))?.id).toBe(
    'r1',
  )
})
