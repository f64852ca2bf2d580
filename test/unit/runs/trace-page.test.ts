import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {request} from 'node:http'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {silentReporter} from '../../../src/lib/base/index.ts'
import {openTracePage, type TracePage} from '../../../src/lib/runs/trace-page.ts'

let folder: string
let page: TracePage
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-trace-page-'))
  await writeFile(join(folder, 'r-rank-1.trace.json.gz'), 'the trace')
  page = await openTracePage(
    join(folder, 'r-rank-1.trace.json.gz'),
    {title: 'r, rank 1 & <more>'},
    {reporter: silentReporter},
  )
})
afterAll(async () => {
  await page.close()
  await rm(folder, {recursive: true})
})

function ask(
  path: string,
  how: {host?: string; method?: string} = {},
): Promise<{status: number | undefined; body: string; policy: unknown}> {
  const {port, host} = new URL(page.url)
  return new Promise((resolve, reject) => {
    request(
      {host: '127.0.0.1', port, path, method: how.method ?? 'GET', headers: {Host: how.host ?? host}},
      (answer) => {
        let body = ''
        answer
          .on('data', (data) => (body += data))
          .on('end', () =>
            resolve({status: answer.statusCode, body, policy: answer.headers['content-security-policy']}),
          )
      },
    )
      .on('error', reject)
      .end()
  })
}

test('speedscope and the trace are there for who has the path', async () => {
  const {pathname, hash} = new URL(page.url)
  expect(pathname).toMatch(/^\/[0-9a-f]{48}\/$/)
  const index = await ask(pathname)
  expect(index).toMatchObject({status: 200, policy: expect.stringContaining("default-src 'self'")})
  const script = /<script src="(speedscope-\w+\.js)">/.exec(index.body)?.[1]
  expect((await ask(`${pathname}${script}`)).body.length).toBeGreaterThan(100_000)
  const named = new URLSearchParams(hash.slice(1))
  expect(named.get('title')).toBe('r, rank 1 & <more>')
  expect(await ask(named.get('profileURL')!)).toMatchObject({status: 200, body: 'the trace'})
})

test('nobody else sees any of it', async () => {
  const {pathname, port} = new URL(page.url)
  for (const path of [
    '/',
    '/index.html',
    `/${'0'.repeat(48)}/`,
    pathname.slice(0, -1),
    `${pathname}../`,
    `${pathname}traces/`,
    `${pathname}..%2f..%2fpackage.json`,
    `${pathname}%2e%2e/package.json`,
    '/%',
  ]) {
    expect([path, (await ask(path)).status]).toEqual([path, 404])
  }
  expect((await ask(pathname, {host: `evil.example:${port}`})).status).toBe(404)
  expect((await ask(pathname, {method: 'POST'})).status).toBe(404)
})

test('a port that is taken is said', async () => {
  await expect(
    openTracePage(
      join(folder, 'r-rank-1.trace.json.gz'),
      {port: Number(new URL(page.url).port), title: ''},
      {reporter: silentReporter},
    ),
  ).rejects.toMatchObject({code: 'CONFLICT'})
})
