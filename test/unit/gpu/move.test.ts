import {describe, expect, it} from 'vitest'
import type {Lease} from '../../../src/lib/gpu/index.ts'
import {likeIt, movePlan, planPlaces} from '../../../src/lib/gpu/move.ts'
import {isCliError} from '../../../src/lib/base/index.ts'
import {throughJson} from '../../support/through-json.ts'
import {device, GiB, held} from './devices.ts'

function lease(node: string, id: string, parts: Partial<Lease['devices'][number]> = {}): Lease {
  return {
    node,
    lease: id.repeat(32),
    state: 'held',
    owner: 'ana@laptop',
    purpose: 'attach train.py',
    created: 0,
    endsIn: null,
    holder: null,
    devices: [
      {
        index: 0,
        id: '0:0',
        name: 'pthread-cpu',
        memory: 4 * GiB,
        compute: 0.25,
        whole: false,
        longestLaunch: null,
        cap: true,
        used: 0,
        ...parts,
      },
    ],
    programs: 1,
  }
}

describe('a lease that is to go', () => {
  it('goes to the first other node with such a share free, and the next one to what is left', () => {
    const devices = [
      device('a', 0),
      held('b', 0, {memory: 10 * GiB, compute: 0.5}),
      device('c', 0, {name: 'another model'}),
      device('d', 0),
    ]
    const moves = planPlaces([lease('a', '1'), lease('a', '2')], ['a', 'b', 'c', 'd'], devices, 'no other node')
    expect(moves.map(({lease: {node}, to}) => [node, to.node])).toEqual([
      ['a', 'b'],
      ['a', 'd'],
    ])
  })
  it('needs a whole device of the same size where it has one', () => {
    const whole = lease('a', '1', {whole: true, memory: 16 * GiB, compute: 1})
    const devices = [held('b', 0, {}), device('c', 0, {memory: 8 * GiB}), device('d', 0)]
    expect(planPlaces([whole], ['b', 'c', 'd'], devices, 'no other node')[0]?.to.node).toBe('d')
  })
  it('is an error where nobody has room, and nothing is planned', () => {
    const attempt = (): unknown => planPlaces([lease('a', '1')], ['b'], [held('b', 0, {whole: true})], 'b')
    expect(attempt).toThrow('b has no room for lease 11111111 (1 × pthread-cpu)')
    try {
      attempt()
    } catch (error) {
      expect(isCliError(error, 'GPU_UNAVAILABLE')).toBe(true)
    }
  })
  it('takes the same share there, for the same owner', () => {
    const to = {node: 'b', devices: [{id: '0:3', index: 3, name: 'pthread-cpu', memory: 4 * GiB}]}
    const same = {cap: true, owner: 'ana@laptop', purpose: 'attach train.py', devices: ['0:3']}
    expect(likeIt(lease('a', '1'), to)).toEqual({...same, memory: 4 * GiB, compute: 0.25})
    expect(likeIt(lease('a', '1', {whole: true}), to)).toEqual({...same, whole: true})
  })
  it('is a plan that is plain data, one lease after the other', () => {
    const moves = planPlaces([lease('a', '1'), lease('a', '2')], ['b', 'c'], [device('b', 0), device('c', 0)], 'x')
    const plan = movePlan('gpu drain', moves, 10)
    expect(throughJson(plan)).toEqual(plan)
    expect(plan.steps.map((step) => step.needs)).toEqual([[], [`move:${'1'.repeat(32)}`]])
    expect(plan.steps[0]?.title).toBe('Move lease 11111111 of ana@laptop (attach train.py) to b, GPU 0, with 1 program')
  })
})
