import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gunzipSync} from 'node:zlib'
import {get} from 'node:http'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {PageLines} from '../../../../../src/lib/head/types.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'
import {rackOf, runsOf} from '../../../../support/page-facts.ts'
import {openHand, type Hand} from '../../../../support/ui-hand.ts'

let folder: string
let server: TestServer
let hand: Hand
/** The head, also after it was started anew. */
const head = {
  get url() {
    return server.url
  },
  call: (method: string, path: string, body?: unknown): Promise<Response> => server.call(method, path, {body}),
}
let headers: Record<string, string>
let log = 'first\n'
let notebooks = [
  {name: 'digits', node: 'gpu01', state: 'running', kernels: 1, idleSince: null, endsAt: null, why: null},
]
const stopped: string[] = []
let finish = (): void => {}
const answers = {
  rack: () => rackOf(3),
  runs: () => ({runs: runsOf(), away: null, unasked: []}),
  lines: ({at}: {at: object}): PageLines => {
    const from = 'from' in at ? Number(at.from) : 0
    const text = log.slice(from)
    return {
      rank: 0,
      attempt: 1,
      node: 'gpu01',
      from,
      to: log.length,
      size: log.length,
      text,
      open: true,
      ranks: [0],
      attempts: [1],
    }
  },
  invoke: async ({text}: {text: string}) => {
    if (text === 'fail') throw new Error('it does not fit the model')
    if (text === 'slow') await new Promise<void>((resolve) => (finish = resolve))
    return {text: 'y  FP32 (1)\n[3]', milliseconds: 1}
  },
  notebooks: () => notebooks,
  endNotebook: () => ((notebooks = []), {}),
  stop: ({run}: {run: string}) => {
    if (run === 'gone') throw new Error('there is no run gone')
    stopped.push(run)
    return {status: 'stopped'}
  },
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-page-'))
  server = await openTestServer(undefined, {folder})
  hand = await openHand(head, answers)
  headers = await hand.enter()
})
afterAll(async () => {
  await hand?.close()
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

const page = (path: string, more: RequestInit = {}, own = headers): Promise<Response> =>
  fetch(`${head.url}/flexrack/ui/${path}`, {
    redirect: 'manual',
    ...more,
    headers: {...own, ...(more.headers as object)},
  })

/** Of the page of the rack; fetch sets some of these headers itself. */
function statusOf(given: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = get(`${head.url}/flexrack/ui/`, {headers: given}, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    call.on('error', reject)
  })
}

/** A stream's messages as they come, until it is closed. */
function listen(query: string): {
  messages: {page?: string; parts?: Record<string, string>; log?: {from: number; to: number; html: string}}[]
  close(): void
} {
  const messages: never[] = []
  let rest = ''
  const call = get(`${head.url}/flexrack/ui/events?${query}`, {headers}, (answer) =>
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop() ?? ''
      for (const one of parts) if (one.startsWith('data: ')) messages.push(JSON.parse(one.slice(6)) as never)
    }),
  )
  call.on('error', () => {})
  return {messages, close: () => call.destroy()}
}

test('the page is for who came in by the link, and for no other page', async () => {
  const {cookie, ...bare} = headers
  for (const [more, status] of [
    [{}, 200],
    [{'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors'}, 403],
    [{'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe'}, 403],
    [{'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document'}, 200],
    [{origin: 'http://127.0.0.1:1'}, 403],
    [{host: 'evil.example'}, 401],
  ] as const)
    expect([await statusOf({...headers, ...more}), more]).toEqual([status, more])
  const without = await page('', {}, bare)
  expect([without.status, await without.text()]).toEqual([401, expect.stringContaining('flexrack head ui')])
  const token = {authorization: `Bearer ${server.admin}`}
  expect((await page('', {}, token)).status, 'a token opens no page').toBe(403)
  for (const path of ['/flexrack/v1/status', '/api/2.0/mlflow/experiments/search', '/', '/endpoints/x/v2'])
    expect((await fetch(head.url + path, {headers: {...bare, cookie: cookie!}})).status, path).toBe(403)
})

test('a page has its policy and no script of its own; style and script are kept for good', async () => {
  const answer = await page('')
  const text = await answer.text()
  expect(answer.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self'",
  )
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(text).toContain('href="/flexrack/ui/nodes/gpu01">gpu01</a>')
  expect(text).not.toMatch(/<script>|<style| style=/)
  const files = [...text.matchAll(/(?:href|src)="(\/flexrack\/ui\/assets\/[^"]+)"/g)].map(([, path]) => path!)
  expect(files).toHaveLength(2)
  for (const path of files) {
    const file = await fetch(head.url + path, {headers})
    expect([file.status, file.headers.get('cache-control')]).toEqual([200, expect.stringContaining('immutable')])
  }
  const zipped = await new Promise<Buffer>((resolve) =>
    get(`${head.url}/flexrack/ui/`, {headers: {...headers, 'accept-encoding': 'gzip'}}, (one) => {
      const chunks: Buffer[] = []
      one.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)))
    }),
  )
  expect(gunzipSync(zipped).toString()).toContain('</html>')
  for (const path of ['runs', 'compare?run=digits-ab12c&run=nobody', 'endpoints', 'audit', 'runs/digits-ab12c/stop'])
    expect([path, (await page(path)).status]).toEqual([path, 200])
  for (const path of ['nothing', 'runs/a/b/c', 'endpoints/none', '%E0%A4%A'])
    expect((await page(path)).status, path).toBeGreaterThanOrEqual(400)
})

test('what somebody watches is looked at, and what changed is sent', async () => {
  const stream = listen(new URLSearchParams({page: '/flexrack/ui/'}).toString())
  await expect.poll(() => stream.messages.length).toBeGreaterThan(0)
  expect(stream.messages[0]).toMatchObject({
    page: '/flexrack/ui/',
    parts: {tiles: expect.any(String), 'node-gpu01': expect.any(String)},
  })
  stream.close()
})

test('something is done once it was asked for from the page itself, as who opened it, and is written down', async () => {
  const post = (path: string, more: Record<string, string> = {}): Promise<Response> =>
    page(path, {method: 'POST', headers: more})
  expect((await post('runs/digits-ab12c/stop', {origin: 'http://evil.example'})).status).toBe(403)
  expect((await post('runs/digits-ab12c/stop', {'sec-fetch-site': 'cross-site'})).status).toBe(403)
  const {origin: _origin, ...silent} = headers
  expect((await page('runs/digits-ab12c/stop', {method: 'POST'}, silent)).status).toBe(403)
  expect((await page('runs/digits-ab12c/stop')).status, 'it is only asked').toBe(200)
  expect(stopped).toEqual([])
  const done = await post('runs/digits-ab12c/stop')
  expect([done.status, done.headers.get('location')]).toEqual([303, '/flexrack/ui/runs/digits-ab12c'])
  expect(stopped).toEqual(['digits-ab12c'])
  expect((await post('runs/gone/stop')).status).toBe(502)
  const kept = (await readFile(join(folder, 'audit/000001.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as {who: string})
    .filter((one) => one.who === 'page')
  expect(kept).toMatchObject([
    {action: 'run.stop', target: 'digits-ab12c', says: 'alice@lab1', outcome: 'stopped'},
    {action: 'run.stop', target: 'gone', error: 'there is no run gone'},
  ])
  expect(await (await page('audit')).text()).toContain('there is no run gone')
  const look = await openHand(head, answers, {opens: 'look'})
  const eyes = await look.enter()
  expect((await page('', {}, eyes)).status).toBe(200)
  expect((await page('runs/digits-ab12c/stop', {method: 'POST'}, eyes)).status).toBe(403)
  expect((await page('mlflow', {}, eyes)).status).toBe(403)
  await look.close()
  expect((await page('', {}, eyes)).status, 'it ends with its head ui').toBe(401)
  expect(stopped).toEqual(['digits-ab12c'])
})

test('a link that was used before tells a browser so as a page, and a program as it does', async () => {
  const open = (accept: string): Promise<Response> => fetch(hand.link, {headers: {accept}, redirect: 'manual'})
  const shown = await open('text/html,application/xhtml+xml,*/*;q=0.8')
  expect([shown.status, shown.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
  const text = await shown.text()
  expect(text).toContain('this login link was used before or is too old: run flexrack head ui again')
  // Who came in by it before still gets there.
  expect(text).toContain('href="/flexrack/ui/"')
  expect(await (await open('*/*')).json()).toMatchObject({error: {code: 'REFUSED'}})
})

test('a notebook that was ended is gone from the list that comes next, and from one that is open', async () => {
  expect(await (await page('notebooks')).text()).toContain('/flexrack/ui/notebooks/gpu01/digits/end')
  const open = listen('page=%2Fflexrack%2Fui%2Fnotebooks')
  await expect.poll(() => JSON.stringify(open.messages)).toContain('notebooks/gpu01/digits/end')
  expect((await page('notebooks/gpu01/digits/end', {method: 'POST'})).headers.get('location')).toMatch(/notebooks$/)
  expect(await (await page('notebooks')).text()).toContain('No notebook runs')
  await expect.poll(() => open.messages.at(-1)?.parts?.list).toContain('No notebook runs')
  open.close()
})

test("MLflow's pages are one click away, at an address of their own", async () => {
  const answer = await page('mlflow')
  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:9\/flexrack\/v1\/login\?code=/)
})

test('an endpoint is tried by who may, one request at a time, of a bounded size', async () => {
  const attempt = (data: string, own = headers, endpoint = 'digits'): Promise<Response> =>
    page(`endpoints/${endpoint}/try`, {method: 'POST', body: new URLSearchParams({data})}, own)
  await server.activate('digits', ['http://127.0.0.1:9'])
  const answer = await attempt('[[1, "<b>"]]')
  expect(answer.status).toBe(200)
  const text = await answer.text()
  expect(text).toContain('y  FP32 (1)')
  expect(text).toContain('[[1, &quot;&lt;b&gt;&quot;]]</textarea>')
  expect(text).toContain('flexrack endpoint invoke digits --data')
  expect(await (await attempt('fail')).text()).toContain('does not fit the model')
  const slow = attempt('slow')
  await expect.poll(() => hand.asked.filter((one) => one.ask === 'invoke').length).toBe(3)
  expect((await attempt('[[2]]')).status).toBe(429)
  finish()
  expect((await slow).status).toBe(200)
  expect((await attempt(' ')).status).toBe(400)
  expect((await attempt('x'.repeat(70_000))).status).toBe(413)
  expect((await attempt('x'.repeat(200_000))).status).toBe(413)
  expect((await attempt('[[2]]', headers, 'none')).status).toBe(404)
  expect((await attempt('[[2]]', {...headers, origin: 'http://evil.example'})).status).toBe(403)
  const looker = await openHand(head, answers, {opens: 'look'})
  const own = await looker.enter()
  expect((await attempt('[[2]]', own)).status).toBe(403)
  expect(await (await page('endpoints/digits', {}, own)).text()).not.toContain('textarea')
  await looker.close()
  expect(hand.asked.filter((one) => one.ask === 'invoke')).toHaveLength(3)
})

test('the page of one rack leads to those of others, by a link of its own machine alone', async () => {
  const code = `${head.url}/flexrack/v1/login?code=abc`
  const links: Record<string, string> = {lab: code, odd: 'http://127.0.0.1:9@evil.example/flexrack/v1/login?code=abc'}
  const several = await openHand(
    head,
    {...answers, enter: ({rack}) => ({url: links[rack] ?? ''})},
    {racks: ['lab', 'odd']},
  )
  const own = await several.enter()
  expect(await (await page('', {}, own)).text()).toContain('href="/flexrack/ui/racks/odd"')
  const there = await page('racks/lab', {}, own)
  expect([there.status, there.headers.get('location')]).toEqual([303, code])
  expect((await page('racks/odd', {}, own)).status).toBe(502)
  expect((await page('racks/none', {}, own)).status).toBe(404)
  expect(await (await page('')).text(), 'one rack needs no choice').not.toContain('/flexrack/ui/racks/')
  const again = await server.call('POST', '/flexrack/v1/login-codes', {body: {opens: 'page', login: several.login}})
  expect(await again.json()).toMatchObject({login: several.login})
  await several.close()
  const late = await server.call('POST', '/flexrack/v1/login-codes', {body: {opens: 'page', login: several.login}})
  expect(late.status).toBe(404)
})

test('a log that grows is sent whole, over a restart of the head: nothing is lost or doubled', async () => {
  const run = '/flexrack/ui/runs/digits-ab12c?rank=0'
  let at = 0
  let got = ''
  const take = (stream: ReturnType<typeof listen>): void => {
    for (const {log: piece} of stream.messages.splice(0)) {
      if (!piece) continue
      expect(piece.from).toBe(at)
      at = piece.to
      got += piece.html.replaceAll(/<[^>]*>/g, '')
    }
  }
  const follow = (): ReturnType<typeof listen> => listen(new URLSearchParams({log: `tab1 ${at} ${run}`}).toString())
  let stream = follow()
  await expect.poll(() => (take(stream), got)).toBe(log)
  log += 'second\n'
  await expect.poll(() => (take(stream), got)).toBe(log)
  const {port} = new URL(head.url)
  await server.close()
  stream.close()
  log += 'third, while nobody was there\n'
  server = await openTestServer(undefined, {folder, port: Number(port)})
  // The `head ui` goes on by itself; the session is on disk, at the address that the head has again.
  await expect.poll(async () => (await page('audit')).status).toBe(200)
  stream = follow()
  await expect.poll(() => (take(stream), got)).toBe(log)
  stream.close()
})
