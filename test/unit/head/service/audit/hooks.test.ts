import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {readAudit, verifyAudit} from '../../../../../src/lib/audit/index.ts'
import {makeContext} from '../../../../../src/lib/base/index.ts'
import type {HeadConnection} from '../../../../../src/lib/head/index.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

let folder: string
let server: TestServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-audit-'))
  server = await openTestServer(undefined, {folder})
})
afterAll(async () => {
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

test('what is changed and refused through the routes is noted before it is answered, without a secret', async () => {
  const issued = await server.call('POST', '/flexrack/v1/tokens', {
    body: {kind: 'personal', name: 'notebook'},
    headers: {'x-flexrack-owner': 'alice@lab1'},
  })
  const {id, token} = (await issued.json()) as {id: string; token: string}
  await server.call('PUT', '/flexrack/v1/locks/deploy', {body: {owner: 'alice', ttl_seconds: 9}})
  expect((await server.call('DELETE', `/flexrack/v1/tokens/${id}`, {token})).status).toBe(403)
  expect((await server.call('GET', '/flexrack/v1/audit', {token})).status).toBe(403)
  expect((await server.call('GET', '/flexrack/v1/status', {token: 'personal.x.y'})).status).toBe(401)
  await server.call('DELETE', `/flexrack/v1/tokens/${id}`, {headers: {'x-flexrack-owner': '<b>no name</b>'}})
  const head = {
    request: async (method: string, path: string) => (await server.call(method, path)).json(),
  } as unknown as Pick<HeadConnection, 'request'>
  const lines = await readAudit(head, {most: 99})
  expect(lines).toMatchObject([
    {who: 'admin', says: 'alice@lab1', action: 'token.issue', target: 'personal notebook', outcome: 'done'},
    {who: `personal ${id}`, action: 'token.revoke', target: id, error: expect.stringContaining('does not open')},
    {who: `personal ${id}`, action: 'GET /flexrack/v1/audit'},
    {who: 'unknown', action: 'GET /flexrack/v1/status'},
    {who: 'admin', action: 'token.revoke', target: id, outcome: 'done'},
  ])
  expect(lines.at(-1)).not.toHaveProperty('says')
  expect(JSON.stringify(lines)).not.toContain(token.split('.')[2])
  const context = makeContext({env: {FLEXRACK_HOME: folder}})
  expect((await verifyAudit('lab', head, undefined, context)).faults).toEqual([])
})
