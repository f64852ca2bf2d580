import ldap from 'ldapjs'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {knowByLdap} from '../../../../../src/lib/head/service/people/ldap.ts'

const BASE = 'ou=people,dc=lab'
const DIRECTORY = {
  [`uid=alice,${BASE}`]: {uid: 'alice', objectclass: 'person', memberof: ['cn=vision,dc=lab', 'cn=all,dc=lab']},
  [`uid=bob,${BASE}`]: {uid: 'bob', objectclass: 'person'},
}
interface Asked {
  dn: {toString(): string}
  credentials: string
  filter: {matches(attributes: object): boolean; toString(): string}
}
interface Answer {
  attributes: string[]
  send(entry: object): void
  end(): void
}
type Next = (error?: unknown) => void

const server = ldap.createServer()
const asked: string[] = []

beforeAll(async () => {
  server.bind('dc=lab', (request: Asked, response: Answer, next: Next) => {
    const name = String(request.dn)
    if (request.credentials !== `secret of ${name}` && request.credentials !== '')
      return next(new ldap.InvalidCredentialsError())
    response.end()
    next()
  })
  server.search(BASE, (request: Asked, response: Answer, next: Next) => {
    asked.push(String(request.filter))
    response.attributes = [] // all: ldapjs minds the case of what it is asked for
    for (const [dn, attributes] of Object.entries(DIRECTORY))
      if (request.filter.matches(attributes)) response.send({dn, attributes})
    response.end()
    next()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise<void>((resolve) => server.close(resolve)))

const know = (name: unknown, password: unknown): ReturnType<typeof knowByLdap> => {
  return knowByLdap({url: server.url, starttls: false, base: BASE, attribute: 'uid'}, name, password)
}
const passwordOf = (uid: string): string => `secret of uid=${uid},${BASE}`

test('who has the password of an entry is that entry, with the groups that it is a member of', async () => {
  const known = await know('alice', passwordOf('alice'))
  expect(known).toMatchObject({source: 'ldap', name: 'alice', groups: ['cn=vision,dc=lab', 'cn=all,dc=lab']})
  expect(await know('bob', passwordOf('bob'))).toMatchObject({name: 'bob', groups: []})
})

test('an empty password, a wrong one, a name that is none, and names with the syntax of filters let nobody in', async () => {
  const tries: [unknown, unknown][] = [
    ['alice', ''],
    ['alice', undefined],
    ['alice', passwordOf('bob')],
    ['carol', 'x'],
    ['', ''],
    [{toString: () => 'alice'}, passwordOf('alice')],
    ['*', passwordOf('alice')],
    ['al*', passwordOf('alice')],
    ['*)(uid=*', passwordOf('alice')],
    ['alice)(|(uid=*', passwordOf('alice')],
  ]
  for (const [name, password] of tries)
    await expect(know(name, password), String(name)).rejects.toMatchObject({status: 401})
  expect(asked.filter((filter) => /\(\||uid=\*\)/.test(filter))).toEqual([])
})
