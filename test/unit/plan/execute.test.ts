import {describe, expect, it} from 'vitest'
import {CliError, makeContext} from '../../../src/lib/base/index.ts'
import {executePlan, throwIfFailed, type Plan, type Step} from '../../../src/lib/plan/index.ts'

const step = (id: string, needs: string[] = [], node: string | null = null): Step => ({id, node, kind: 'work', title: id, input: {}, needs})
const plan = (...steps: Step[]): Plan => ({command: 'test', steps})

describe('executePlan', () => {
  it('runs a step only after the steps it needs, and hands it their values', async () => {
    const order: string[] = []
    const outcomes = await executePlan(plan(step('c', ['a', 'b']), step('a'), step('b', ['a'])), {
      work: async ({id, needs}, done) => {
        expect(needs.every((need) => done.get(need) === `value of ${need}`)).toBe(true)
        order.push(id)
        return `value of ${id}`
      },
    }, makeContext())
    expect(order).toEqual(['a', 'b', 'c'])
    expect(outcomes.map((one) => one.status)).toEqual(['done', 'done', 'done'])
  })

  it('runs independent steps at the same time', async () => {
    let release = (): void => {}
    const gate = new Promise<void>((open) => (release = open))
    const outcomes = await executePlan(plan(step('waits'), step('opens')), {
      work: async ({id}) => (id === 'waits' ? gate : release()), // would never end if the steps ran one after the other
    }, makeContext())
    expect(outcomes.every((one) => one.status === 'done')).toBe(true)
  })

  it('skips what needs a failed step and goes on with the rest', async () => {
    const outcomes = await executePlan(plan(step('bad'), step('after', ['bad']), step('later', ['after']), step('other')), {
      work: async ({id}) => {
        if (id === 'bad') throw new CliError('REMOTE_FAILED', 'no')
      },
    }, makeContext())
    expect(Object.fromEntries(outcomes.map((one) => [one.step.id, one.status]))).toEqual({bad: 'failed', after: 'skipped', later: 'skipped', other: 'done'})
  })

  it('starts nothing new once the command is interrupted', async () => {
    const stop = new AbortController()
    const started: string[] = []
    const outcomes = await executePlan(plan(step('first'), step('second', ['first'])), {
      work: async ({id}) => {
        started.push(id)
        stop.abort()
      },
    }, makeContext({signal: stop.signal}))
    expect(started).toEqual(['first'])
    expect(() => throwIfFailed(outcomes)).toThrowError(expect.objectContaining({code: 'INTERRUPTED', exitCode: 130}))
  })

  it('refuses a plan whose steps need one that is not there', async () => {
    await expect(executePlan(plan(step('a', ['ghost'])), {work: async () => {}}, makeContext())).rejects.toThrow(/ghost/)
  })
})

describe('throwIfFailed', () => {
  const failOn = (...bad: string[]) => executePlan(plan(step('x', [], 'node-1'), step('y', [], 'node-2'), step('z', [], 'node-3')), {
    work: async ({node}) => {
      if (node && bad.includes(node)) throw new CliError('NODE_UNREACHABLE', `${node} is away`)
    },
  }, makeContext())

  it('throws nothing when all is done', async () => {
    const outcomes = await failOn()
    expect(() => throwIfFailed(outcomes)).not.toThrow()
  })

  it('reports every node with exit status 8 when some failed', async () => {
    const outcomes = await failOn('node-2')
    expect(() => throwIfFailed(outcomes)).toThrowError(expect.objectContaining({
      code: 'SOME_NODES_FAILED',
      exitCode: 8,
      details: {nodes: [
        {node: 'node-1', ok: true},
        {node: 'node-2', ok: false, code: 'NODE_UNREACHABLE', message: 'node-2 is away'},
        {node: 'node-3', ok: true},
      ]},
    }))
  })

  it('throws the error itself when only one node is concerned', async () => {
    const outcomes = await executePlan(plan(step('x', [], 'node-1')), {work: async () => { throw new CliError('LOCKED', 'held') }}, makeContext())
    expect(() => throwIfFailed(outcomes)).toThrowError(expect.objectContaining({code: 'LOCKED'}))
  })
})
