import {expect, test} from 'vitest'
import {documentOf} from '../../../../../src/lib/head/service/page/layout.ts'
import {peopleBody, type PeopleSeen} from '../../../../../src/lib/head/service/page/people.ts'

const now = 1_800_000_000_000
const nobody: PeopleSeen = {users: {}, teams: {}, projects: {}, tokens: [], quotas: [], queue: []}

test('the page of people tells who there is, what they use of what they may, and who waits', () => {
  const {text} = peopleBody(
    {
      users: {
        alice: {admin: false, source: 'admin', createdAt: now, keys: 1, teams: ['vision'], lastUsedAt: now - 60_000},
      },
      teams: {vision: {members: ['alice'], provided: []}},
      projects: {digits: {roles: {'user:alice': 'member'}}, '<b>': {roles: {}}},
      tokens: [
        {
          id: 'tok1',
          user: 'alice',
          note: '<img src=x>',
          project: 'digits',
          role: 'viewer',
          createdAt: now,
          expiresAt: now + 3_600_000,
          lastUsedAt: null,
        },
      ],
      quotas: [
        {of: 'user:*', limits: [{what: 'runs', most: 2, soft: true, have: null, by: {}}]},
        {of: 'team:vision', limits: [{what: 'gpus', most: 8, soft: false, have: 6, by: {alice: 6}}]},
      ],
      queue: [
        {
          run: 'digits-x1',
          user: 'alice',
          project: 'digits',
          gpus: 4,
          priority: 0,
          since: now - 5000,
          position: 1,
          by: now + 60_000,
          why: 'bob has gpu1',
        },
      ],
    },
    now,
  )
  const words = text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  expect(words).toContain('digits-x1 digits alice 4 0 5 s ago bob has gpu1 starts in 1 min')
  expect(words).toContain('each user runs 2 soft')
  expect(words).toContain('team:vision GPUs 6 8 alice 6')
  expect(words).toContain('alice vision 1 SSH key')
  expect(words).toContain('digits user:alice member')
  expect(words).toContain('tok1 alice &lt;img src=x&gt; digits, viewer never in 1')
  expect(text).not.toContain('<img')
})

test('a rack of one person has no such page in its menu', () => {
  const shown = (alone: boolean): string =>
    documentOf(
      {page: 'people', title: 'People', body: peopleBody(nobody, now), command: 'flexrack user list'},
      {rack: 'lab', racks: ['lab'], may: true, alone, user: undefined},
    )
  expect(shown(false)).toContain('>People</a')
  expect(shown(true)).not.toContain('>People</a')
})
