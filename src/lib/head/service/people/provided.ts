import {Failure} from '../failure.ts'
import {nameFrom} from './names.ts'
import type {People} from './people.ts'

/** Somebody whom a provider knows. */
export interface Known {
  source: 'oidc' | 'ldap'
  /** By which the provider tells them from all others, also after a change of name. */
  subject: string
  name: string
  groups: string[]
}

/**
 * The user that somebody is; at their first login one is made, who is no admin and has no role but what everyone and
 * their teams have. Their teams are those that their groups mean now. Errors: 409 where the name is somebody else's.
 */
export async function userOf(known: Known, teams: Record<string, string>, people: People): Promise<string> {
  let user = people.userBySubject(known.subject)
  if (user === undefined) {
    const name = nameFrom(known.name)
    if (name === undefined) throw new Failure(403, 'REFUSED', `"${known.name}" gives no name for a user here`)
    if (people.user(name))
      throw new Failure(
        409,
        'CONFLICT',
        `there is another user ${name}: an admin removes that one, or the provider calls you otherwise`,
      )
    await people.addUser(name, {admin: false, keys: [], source: known.source, subject: known.subject})
    user = name
  }
  const spelt = known.source === 'ldap' ? nameOfGroup : (group: string): string => group
  const byGroup = new Map(Object.entries(teams).map(([group, team]) => [spelt(group), team]))
  const meant = known.groups.flatMap((group) => byGroup.get(spelt(group)) ?? [])
  await people.setProvided(user, [...new Set(meant)])
  return user
}

/** Distinguished names are the same with other case and other space around their signs (RFC 4517, 4.2.15). */
function nameOfGroup(dn: string): string {
  return dn.toLowerCase().replaceAll(/\s*([,=+])\s*/g, '$1')
}
