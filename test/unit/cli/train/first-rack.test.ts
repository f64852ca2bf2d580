import {expect, test} from 'vitest'
import {onFirstRack, type Attempt} from '../../../../src/cli/train/first-rack.ts'
import {CliError, silentReporter, type Context, type ErrorCode} from '../../../../src/lib/base/index.ts'

interface Told {
  tried: string[]
  notes: string[]
}

/** Racks that refuse with a code; `start`: after it has started there. Others train. */
function racksThat(
  refuse: Record<string, ErrorCode | `start ${ErrorCode}`>,
): Told & {attempt: Attempt<string>; context: Context} {
  const told: Told = {tried: [], notes: []}
  const signal = new AbortController().signal
  return {
    ...told,
    context: {reporter: {...silentReporter, note: (text) => told.notes.push(text)}, signal, kill: signal, env: {}},
    attempt: async (rack, {wait, started}) => {
      told.tried.push(wait ? `${rack} waits` : rack)
      const code = refuse[rack]
      if (code === undefined || (wait && code === 'RESERVED')) return `trained on ${rack}`
      if (code.startsWith('start ')) started()
      throw new CliError(code.replace('start ', '') as ErrorCode, `${rack} says ${code}`, {hint: `mend ${rack}`})
    },
  }
}

test('the first rack that can start it now trains, and what the others lack is told', async () => {
  const {attempt, tried, notes, context} = racksThat({lab: 'RESERVED', attic: 'NODE_UNREACHABLE'})
  expect(await onFirstRack(['lab', 'attic', 'cloud', 'more'], {wait: true}, attempt, context)).toBe('trained on cloud')
  expect(tried).toEqual(['lab', 'attic', 'cloud'])
  expect(notes).toEqual([
    'rack lab cannot start it now: lab says RESERVED',
    'rack attic cannot start it now: attic says NODE_UNREACHABLE',
  ])
})

test('where none can, it waits at the first that others have, and without --wait every reason is told', async () => {
  const busy = racksThat({attic: 'NODE_UNREACHABLE', lab: 'RESERVED', cloud: 'RESERVED'})
  expect(await onFirstRack(['attic', 'lab', 'cloud'], {wait: true}, busy.attempt, busy.context)).toBe('trained on lab')
  expect(busy.tried).toEqual(['attic', 'lab', 'cloud', 'lab waits'])
  const spent = racksThat({lab: 'QUOTA'})
  expect(await onFirstRack(['lab', 'cloud'], {wait: false}, spent.attempt, spent.context)).toBe('trained on cloud')
  await expect(onFirstRack(['attic', 'lab'], {wait: false}, busy.attempt, busy.context)).rejects.toMatchObject({
    code: 'RESERVED',
    message: 'no rack can start it now: attic: attic says NODE_UNREACHABLE; lab: lab says RESERVED',
    hint: '--wait',
    details: {racks: [{rack: 'attic', code: 'NODE_UNREACHABLE', hint: 'mend attic'}, {rack: 'lab'}]},
  })
  const broken = racksThat({lab: 'NODE_UNFIT', cloud: 'AUTH_FAILED'})
  await expect(onFirstRack(['lab', 'cloud'], {wait: true}, broken.attempt, broken.context)).rejects.toMatchObject({
    code: 'NODE_UNFIT',
    hint: 'mend lab',
  })
})

test('an error of a run that has started, and one that no other rack would mend, ends it', async () => {
  for (const code of ['start NODE_UNREACHABLE', 'USAGE', 'INTERRUPTED', 'MANIFEST_INVALID'] as const) {
    const {attempt, tried, context} = racksThat({lab: code})
    await expect(onFirstRack(['lab', 'cloud'], {wait: false}, attempt, context)).rejects.toThrow(`lab says ${code}`)
    expect(tried).toEqual(['lab'])
  }
})
