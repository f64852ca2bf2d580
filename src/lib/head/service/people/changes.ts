import type {FastifyRequest} from 'fastify'
import type {HeadAction} from '../../../protocol/index.ts'
import {noteAction} from '../page/actions.ts'
import type {Parts} from '../parts.ts'

/** Does a change of people, and writes down who, what, and what came of it. */
export async function noteChange<T>(
  parts: Parts,
  {caller}: Pick<FastifyRequest, 'caller'>,
  action: HeadAction['action'],
  target: string,
  work: () => Promise<T>,
): Promise<T> {
  const owner = caller?.kind === 'user' ? caller.user : caller?.kind === 'admin' ? 'the admin token' : target
  const login = caller && 'id' in caller ? caller.id : ''
  const done = {at: Date.now(), owner, login, action, target}
  try {
    const made = await work()
    await noteAction({parts}, {...done, outcome: 'done'})
    return made
  } catch (error) {
    await noteAction({parts}, {...done, error: (error as Error).message})
    throw error
  }
}
