import {CliError, type Context} from '../../lib/base/index.ts'
import type {Change} from '../../lib/endpoint/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {openSession, type SessionFlags} from '../base/session.ts'
import {endpointsOf} from './open.ts'
import {namesRacks, openNamedSet, setAnswers} from './sets.ts'
import type {ChangeAnswer} from './text.ts'

/** Takes what is named back, or plans that: one endpoint, several of a rack, or of several racks. */
export async function rollbackNamed(
  words: string[],
  flags: SessionFlags & {timeout?: number | undefined},
  context: Context,
): Promise<{plan(): Promise<Plan>; carryOut(): Promise<ChangeAnswer[]>}> {
  const {timeout} = flags
  if (namesRacks(words)) {
    const {set, sets} = await openNamedSet(words, flags, context)
    return {
      plan: () => sets.planRollback(set),
      carryOut: async () => setAnswers('rollback', await sets.rollback(set, timeout)),
    }
  }
  const twice = words.find((word, index) => words.indexOf(word) < index)
  if (twice !== undefined) throw new CliError('USAGE', `endpoint ${twice} is named twice`)
  const endpoints = await endpointsOf(await openSession(flags, context), context)
  const [only] = words
  if (only === undefined || words.length > 1)
    return {
      plan: () => endpoints.planRollbackTogether(words),
      carryOut: async () => (await endpoints.rollbackTogether(words, timeout)).map(answer),
    }
  return {
    plan: () => endpoints.planRollback(only),
    carryOut: async () => [answer(await endpoints.rollback(only, timeout))],
  }
}

function answer({changed, endpoint}: Change): ChangeAnswer {
  return {command: 'rollback', changed, endpoint}
}
