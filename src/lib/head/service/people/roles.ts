import type {HeadRole} from '../../../protocol/index.ts'

/** From the least to the most; each may what those before it may. */
export const ROLES = ['viewer', 'member', 'maintainer', 'admin'] as const satisfies readonly HeadRole[]

/**
 * Who may do what: the one table. Of each verb the least role in the project of what it is done to; `own`: to what the
 * person has started or made, `others`: to what somebody else has. Who has no role in a project may nothing there.
 */
export const VERBS = {
  'run.read': {own: 'viewer', others: 'viewer'},
  'run.start': {own: 'member', others: 'member'},
  // before the others: a priority above 0
  'run.prefer': {own: 'maintainer', others: 'maintainer'},
  'run.write': {own: 'member', others: 'maintainer'},
  'run.delete': {own: 'member', others: 'maintainer'},
  'model.read': {own: 'viewer', others: 'viewer'},
  'model.write': {own: 'member', others: 'member'},
  'model.delete': {own: 'maintainer', others: 'maintainer'},
  'project.grant': {own: 'maintainer', others: 'maintainer'},
  'people.change': {own: 'admin', others: 'admin'},
  'token.create': {own: 'viewer', others: 'admin'},
} as const satisfies Record<string, {own: HeadRole; others: HeadRole}>

export type Verb = keyof typeof VERBS

export function isRole(value: unknown): value is HeadRole {
  return ROLES.includes(value as HeadRole)
}

/** Whether a role is that one or a higher one; nobody's is none. */
export function reaches(role: HeadRole | null, least: HeadRole): boolean {
  return role !== null && ROLES.indexOf(role) >= ROLES.indexOf(least)
}

export function may(role: HeadRole | null, verb: Verb, whose: 'own' | 'others'): boolean {
  return reaches(role, VERBS[verb][whose])
}

/** The lower of two; of none it is none. */
export function lower(one: HeadRole | null, other: HeadRole | undefined): HeadRole | null {
  if (one === null || other === undefined) return one
  return ROLES.indexOf(one) <= ROLES.indexOf(other) ? one : other
}

/** The highest of those that are given; null of none. */
export function highest(roles: readonly (HeadRole | undefined)[]): HeadRole | null {
  return ROLES.findLast((role) => roles.includes(role)) ?? null
}
