import {describe, expect, it} from 'vitest'
import {CliError, makeContext, Secret, type Context} from '../../../src/lib/base/index.ts'
import {
  executePlan,
  fill,
  fromEnv,
  fromStep,
  throwIfFailed,
  type Handlers,
  type PlanOf,
  type StepOf,
  type StepOutcome,
} from '../../../src/lib/plan/index.ts'

type Work = {id: string; needs: string[]; node: string | null}
type Kinds = {work: {input: Work; output: unknown}}

const step = (id: string, needs: string[] = [], node: string | null = null): StepOf<Kinds> => ({
  id,
  node,
  kind: 'work',
  title: id,
  input: {id, needs, node},
  needs,
})
const plan = (...steps: StepOf<Kinds>[]): PlanOf<Kinds> => ({command: 'test', steps})
const execute = (
  steps: PlanOf<Kinds>,
  handlers: Handlers<Kinds, undefined>,
  context: Context,
): Promise<StepOutcome[]> => executePlan<Kinds, undefined>(steps, handlers, undefined, context)

describe('executePlan', () => {
  it('runs a step only after the steps it needs, and hands it their values', async () => {
    const order: string[] = []
    const outcomes = await execute(
      plan(step('c', ['a', 'b']), step('a'), step('b', ['a'])),
      {
        work: async ({id, needs}, done) => {
          expect(needs.every((need) => done.at(fromStep(need)) === `value of ${need}`)).toBe(true)
          order.push(id)
          return `value of ${id}`
        },
      },
      makeContext(),
    )
    expect(order).toEqual(['a', 'b', 'c'])
    expect(outcomes.map((one) => one.status)).toEqual(['done', 'done', 'done'])
  })

  it('runs independent steps at the same time', async () => {
    let release = (): void => {}
    const gate = new Promise<void>((open) => (release = open))
    const outcomes = await execute(
      plan(step('waits'), step('opens')),
      {
        work: async ({id}) => (id === 'waits' ? gate : release()), // would never end if the steps ran one after the other
      },
      makeContext(),
    )
    expect(outcomes.every((one) => one.status === 'done')).toBe(true)
  })

  it('skips what needs a failed step and goes on with the rest', async () => {
    const outcomes = await execute(
      plan(step('bad'), step('after', ['bad']), step('later', ['after']), step('other')),
      {
        work: async ({id}) => {
          if (id === 'bad') throw new CliError('REMOTE_FAILED', 'no')
        },
      },
      makeContext(),
    )
    expect(Object.fromEntries(outcomes.map((one) => [one.step.id, one.status]))).toEqual({
      bad: 'failed',
      after: 'skipped',
      later: 'skipped',
      other: 'done',
    })
  })

  it('starts nothing new once the command is interrupted', async () => {
    const stop = new AbortController()
    const started: string[] = []
    const outcomes = await execute(
      plan(step('first'), step('second', ['first'])),
      {
        work: async ({id}) => {
          started.push(id)
          stop.abort()
        },
      },
      makeContext({signal: stop.signal}),
    )
    expect(started).toEqual(['first'])
    expect(() => throwIfFailed(outcomes)).toThrowError(expect.objectContaining({code: 'INTERRUPTED', exitCode: 130}))
  })

  it('refuses a plan whose steps need one that is not there', async () => {
    await expect(execute(plan(step('a', ['ghost'])), {work: async () => {}}, makeContext())).rejects.toThrow(/ghost/)
  })
})

describe('a plan from elsewhere', () => {
  it('is refused where a step refers to one that is not done before it, or two have one id', async () => {
    const odd = {...step('b'), input: {...step('b').input, of: [fromStep('a', 'part')]}}
    await expect(execute(plan(step('a'), odd), {work: async () => {}}, makeContext())).rejects.toThrow(
      'refers to a, which it does not need',
    )
    await expect(execute(plan(step('a'), step('a')), {work: async () => {}}, makeContext())).rejects.toThrow('one id')
  })

  it('says what is known later by references, which mean a part of an output, or of the environment; secrets are revealed to whoever gets it', () => {
    const template = {
      a: fromStep('one', 'x', 'y'),
      b: [fromEnv('user')],
      c: {d: fromEnv('variables', 'NAME')},
      e: null,
      $output: 3,
    }
    const given: Record<string, unknown> = {one: {x: {y: new Secret('hidden')}}}
    expect(
      fill(
        template,
        ({$output, at}) => (at ?? []).reduce((part, name) => (part as Record<string, unknown>)[name], given[$output]),
        {user: 'ada', variables: {NAME: 'n'}},
      ),
    ).toEqual({a: 'hidden', b: ['ada'], c: {d: 'n'}, e: null, $output: 3})
    expect(() => fill(fromEnv('variables', 'OTHER'), () => undefined, {variables: {}})).toThrow('variables.OTHER')
    expect(() => fill(fromEnv('variables', 'constructor'), () => undefined, {variables: {}})).toThrow(
      'variables.constructor',
    )
  })

  it('cannot have a step take the output of another kind for its own', async () => {
    const requested: unknown[] = []
    const outcomes = await execute(
      plan(step('a'), step('b', ['a'])),
      {
        work: async ({id}, done) => {
          if (id === 'b') requested.push(done.of('work', fromStep('a')), () => done.of('play' as 'work', fromStep('a')))
          return id
        },
      },
      makeContext(),
    )
    expect([outcomes.map((one) => one.status), requested[0]]).toEqual([['done', 'done'], 'a'])
    expect(requested[1]).toThrow('kind play')
  })
})

describe('throwIfFailed', () => {
  const failOn = (...bad: string[]) =>
    execute(
      plan(step('x', [], 'node-1'), step('y', [], 'node-2'), step('z', [], 'node-3')),
      {
        work: async ({node}) => {
          if (node && bad.includes(node)) throw new CliError('NODE_UNREACHABLE', `${node} is away`)
        },
      },
      makeContext(),
    )

  it('throws nothing when all is done', async () => {
    const outcomes = await failOn()
    expect(() => throwIfFailed(outcomes)).not.toThrow()
  })

  it('reports every node with exit status 8 when some failed', async () => {
    const outcomes = await failOn('node-2')
    expect(() => throwIfFailed(outcomes)).toThrowError(
      expect.objectContaining({
        code: 'SOME_NODES_FAILED',
        exitCode: 8,
        details: {
          nodes: [
            {node: 'node-1', ok: true},
            {node: 'node-2', ok: false, code: 'NODE_UNREACHABLE', message: 'node-2 is away'},
            {node: 'node-3', ok: true},
          ],
        },
      }),
    )
  })

  it('throws the error itself when only one node is concerned', async () => {
    const outcomes = await execute(
      plan(step('x', [], 'node-1')),
      {
        work: async () => {
          throw new CliError('LOCKED', 'held')
        },
      },
      makeContext(),
    )
    expect(() => throwIfFailed(outcomes)).toThrowError(expect.objectContaining({code: 'LOCKED'}))
  })
})
