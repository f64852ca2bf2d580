import {expect, test} from 'vitest'
import {may, ROLES, VERBS, type Verb} from '../../../../../src/lib/head/service/people/roles.ts'

/** The matrix as it is promised (docs/people.md): the least role for one's own, for others'. */
const PROMISED: [Verb, own: string, others: string][] = [
  ['run.read', 'viewer', 'viewer'],
  ['run.start', 'member', 'member'],
  ['run.prefer', 'maintainer', 'maintainer'],
  ['run.write', 'member', 'maintainer'],
  ['run.delete', 'member', 'maintainer'],
  ['model.read', 'viewer', 'viewer'],
  ['model.write', 'member', 'member'],
  ['model.delete', 'maintainer', 'maintainer'],
  ['project.grant', 'maintainer', 'maintainer'],
  ['people.change', 'admin', 'admin'],
  ['token.create', 'viewer', 'admin'],
]

test('every verb is open to its role and those above, and to nobody below or without one', () => {
  expect(PROMISED.map(([verb]) => verb).toSorted()).toEqual(Object.keys(VERBS).toSorted())
  for (const [verb, own, others] of PROMISED)
    for (const [whose, least] of [
      ['own', own],
      ['others', others],
    ] as const) {
      const floor = ROLES.indexOf(least as never)
      for (const [at, role] of ROLES.entries())
        expect(may(role, verb, whose), `${role} ${verb} ${whose}`).toBe(at >= floor)
      expect(may(null, verb, whose), `nobody ${verb}`).toBe(false)
    }
})
