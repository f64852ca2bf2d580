import {describe, expect, it} from 'vitest'
import {makeContext, ownerName} from '../../../src/lib/base/index.ts'
import type {NodeReport} from '../../../src/lib/nodes/index.ts'
import type {NodeReservations, Reservation} from '../../../src/lib/protocol/index.ts'
import {planRelease} from '../../../src/lib/reservation/release.ts'
import {holderText, refusal, wantsText} from '../../../src/lib/reservation/text.ts'

const context = makeContext()
const one = (parts: Partial<Reservation> = {}): Reservation => ({
  lease: 'digits-aaaaa',
  state: 'running',
  user: 'ada',
  owner: 'ada@laptop',
  project: 'digits',
  node: 'gpu1',
  nodes: ['gpu1', 'gpu2'],
  since: new Date(2026, 4, 2, 10, 12).getTime() / 1000,
  over: 'the whole node',
  here: true,
  wants: {gpus: [], slots: 2, exclusive: true},
  silent: 1,
  ends_in: null,
  ...parts,
})
const reports = (...all: Reservation[]): NodeReport<NodeReservations>[] => [
  {node: 'a', ok: true, value: {shared: true, damaged: 0, identity: 'm', reservations: all}},
]
const codeOf = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return (error as {code?: string}).code
  }
}

describe('planRelease', () => {
  const mine = one({owner: ownerName(context), state: 'confirmed', ends_in: 10})

  it('frees what is ours, by the beginning of its name', () => {
    const chosen = planRelease(reports(mine, one({lease: 'other-bbbbb'})), 'digits', {force: false}, context)
    expect(chosen).toMatchObject({
      lease: 'digits-aaaaa',
      parts: [{node: 'a'}],
      plan: {steps: [{node: 'a', kind: 'rack.release'}]},
    })
    expect(chosen.plan.steps[0]?.title).not.toContain('end its ranks')
  })

  it("never frees what is somebody else's unless they are named, nor what runs unless it is forced", () => {
    const theirs = reports(one({state: 'confirmed'}))
    expect(codeOf(() => planRelease(theirs, 'digits-aaaaa', {force: true}, context))).toBe('REFUSED')
    expect(codeOf(() => planRelease(theirs, 'digits-aaaaa', {force: true, user: 'bob@desk'}, context))).toBe('REFUSED')
    expect(planRelease(theirs, 'digits-aaaaa', {force: false, user: 'ada@laptop'}, context).owner).toBe('ada@laptop')
    const running = reports({...mine, state: 'running'})
    expect(codeOf(() => planRelease(running, 'digits-aaaaa', {force: false}, context))).toBe('CONFLICT')
    expect(planRelease(running, 'digits-aaaaa', {force: true}, context).plan.steps[0]?.title).toContain('end its ranks')
  })

  it('says what is not there and what is not clear', () => {
    expect(codeOf(() => planRelease(reports(mine), 'digitz-aaaaa', {force: false}, context))).toBe('NOT_FOUND')
    expect(
      codeOf(() => planRelease(reports(mine, one({lease: 'digits-bbbbb'})), 'digits', {force: false}, context)),
    ).toBe('CONFLICT')
  })
})

describe('refusal', () => {
  const now = new Date(2026, 4, 2, 11, 0)

  it('says who has what, since when and until when', () => {
    expect(holderText(one(), now)).toBe('digits-aaaaa of ada@laptop has the whole node since 10:12, until its run ends')
    expect(holderText(one({user: 'ubuntu', silent: 90}), new Date(2026, 4, 3))).toBe(
      'digits-aaaaa of ada@laptop (account ubuntu) has the whole node since 2026-05-02 10:12, until its run ends (silent for 90 s)',
    )
    expect(holderText(one({state: 'prepared', ends_in: 15}), now)).toMatch(/until 11:00:15 unless it is renewed$/)
    expect(holderText(one({state: 'waiting', over: 'GPU x'}), now)).toBe(
      'digits-aaaaa of ada@laptop is before us in line for GPU x since 10:12, as long as its command waits',
    )
  })

  it('is one sentence, with everything in the details', () => {
    const error = refusal(
      [
        {node: 'a', holders: [one()]},
        {node: 'b', holders: [one()]},
      ],
      3,
    )
    expect(error.message).toMatch(/^a, b \(of 3 nodes\): digits-aaaaa of ada@laptop has the whole node since/)
    expect(error.message.match(/digits-aaaaa/g)).toHaveLength(1)
    expect(error).toMatchObject({
      code: 'RESERVED',
      exitCode: 4,
      details: {nodes: ['a', 'b'], holders: [{at: 'a', lease: 'digits-aaaaa'}, {at: 'b'}]},
    })
  })
})

it('wantsText', () => {
  expect([
    wantsText({gpus: 'all', slots: 2, exclusive: false}),
    wantsText({gpus: ['x'], slots: 1, exclusive: false}),
    wantsText({gpus: 'all', slots: 1, exclusive: true}),
    wantsText({gpus: [], slots: 4, exclusive: false}),
  ]).toEqual(['2 slots, all GPUs', '1 slot, 1 GPU', '1 slot, the whole node', '4 slots'])
})
