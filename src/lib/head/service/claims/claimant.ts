import type {FastifyRequest} from 'fastify'
import type {ClaimWish} from '../../types.ts'
import {saidUserOf} from '../audit/hooks.ts'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {callerOf, requireMay} from '../people/person.ts'

/** Whose claim it is. */
export interface Claimant {
  user: string
  teams: string[]
  /** Whose priorities count among the runs of all projects. */
  rack?: true
}

/**
 * Who asks: the person whose token it is, with a role in the project that lets them start runs; with the admin's token who
 * the command line says. Errors: 403.
 */
export function claimantOf(
  request: FastifyRequest,
  {people}: Pick<Parts, 'people'>,
  {project, priority}: Pick<ClaimWish, 'project' | 'priority'>,
): Claimant {
  const person = callerOf(request, people, project)
  if (!person) throw new Failure(403, 'REFUSED', 'nobody knows whose claim this is')
  if (person.user === null) {
    const user = saidUserOf(request)
    return {user, teams: people.teamsOf(user), rack: true}
  }
  requireMay(person, 'run.start', 'own')
  if (priority > 0) requireMay(person, 'run.prefer', 'own')
  return {user: person.user, teams: person.teams, ...(person.role === 'admin' && {rack: true as const})}
}
