import {mkdtemp, rm, stat} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {People} from '../../../../../src/lib/head/service/people/people.ts'
import {callerOf, personOf} from '../../../../../src/lib/head/service/people/person.ts'

let folder: string
let people: People
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-people-'))
  people = await People.open(folder)
})
afterEach(() => rm(folder, {recursive: true, force: true}))

const made = async (): Promise<void> => {
  for (const name of ['alice', 'bob', 'root'])
    await people.addUser(name, {admin: name === 'root', keys: [], source: 'admin'})
  await people.setTeam('vision', ['alice'])
  await people.addProject('digits')
}

test('a role comes from the person, a team or everyone, the highest of them, and is there after a restart', async () => {
  expect(people.isEmpty).toBe(true)
  await made()
  await people.grant('digits', 'everyone', 'viewer')
  await people.grant('digits', 'team:vision', 'maintainer')
  await people.grant('digits', 'user:alice', 'member')
  const again = await People.open(folder)
  const roles = (name: string): unknown[] => [again.roleOf(name, 'digits'), again.roleOf(name, 'other')]
  expect(['alice', 'bob', 'root', 'carol'].map(roles)).toEqual([
    ['maintainer', null],
    ['viewer', null],
    ['admin', 'admin'],
    [null, null],
  ])
  expect((await stat(join(folder, 'people.json'))).mode & 0o777).toBe(0o600)
})

test('who is removed is in no team and has no role, also under the same name again', async () => {
  await made()
  await people.grant('digits', 'user:alice', 'maintainer')
  await people.grant('digits', 'team:vision', 'member')
  await people.removeUser('alice')
  await people.addUser('alice', {admin: false, keys: [], source: 'admin'})
  expect(people.roleOf('alice', 'digits')).toBeNull()
  await people.setTeam('vision', ['bob'])
  await people.removeTeam('vision')
  await people.setTeam('vision', ['bob'])
  expect(people.roleOf('bob', 'digits')).toBeNull()
})

test('what a provider says of teams replaces what it had said, and nothing else', async () => {
  await made()
  await people.setProvided('bob', ['vision', 'audio'])
  await people.setProvided('bob', ['audio'])
  expect([people.teamsOf('bob'), people.teamsOf('alice')]).toEqual([['audio'], ['vision']])
})

test('names that are none, roles that nobody can give, and people who are not there are refused', async () => {
  await made()
  const add = (name: string): Promise<void> => people.addUser(name, {admin: false, keys: [], source: 'admin'})
  for (const name of ['', 'Alice', '../x', 'everyone', '__proto__', 'a'.repeat(65), 'a b'])
    await expect(add(name), name).rejects.toMatchObject({status: 400})
  await expect(add('alice')).rejects.toMatchObject({status: 409})
  await expect(people.grant('digits', 'everyone', 'member')).rejects.toMatchObject({status: 400})
  await expect(people.grant('digits', 'user:alice', 'admin')).rejects.toMatchObject({status: 400})
  await expect(people.grant('digits', 'alice', 'member')).rejects.toMatchObject({status: 400})
  await expect(people.grant('digits', 'user:carol', 'member')).rejects.toMatchObject({status: 404})
  await expect(people.grant('constructor', 'user:alice', 'member')).rejects.toMatchObject({status: 404})
  await expect(people.setTeam('vision', ['carol'])).rejects.toMatchObject({status: 404})
  expect(people.roleOf('constructor', 'digits')).toBeNull()
})

test('a token is worth no more than its project and its role, and no more than its user is', async () => {
  await made()
  await people.grant('digits', 'user:alice', 'member')
  const of = (user: string, more: object, named?: string): unknown =>
    personOf({kind: 'user', id: 't', user, ...more}, people, named)?.role
  expect(of('alice', {}, 'digits')).toBe('member')
  expect(of('alice', {role: 'viewer'}, 'digits')).toBe('viewer')
  expect(of('alice', {role: 'maintainer'}, 'digits')).toBe('member')
  expect(of('alice', {project: 'digits'})).toBe('member')
  expect(of('root', {project: 'digits'})).toBe('maintainer')
  expect([of('root', {}), of('root', {role: 'viewer'}), of('alice', {})]).toEqual(['admin', 'viewer', null])
  expect(() => of('alice', {project: 'digits'}, 'other')).toThrow(/for project digits, not for other/)
  const asked = {caller: {kind: 'user', id: 't', user: 'alice'} as const, headers: {'x-mlflow-workspace': 'digits'}}
  expect(callerOf(asked, people)).toEqual({user: 'alice', teams: ['vision'], project: 'digits', role: 'member'})
  expect(callerOf({caller: {kind: 'node', id: 'n', node: 'a'}, headers: {}}, people)).toBeUndefined()
})
