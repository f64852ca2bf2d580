import {connect} from 'node:net'
import {readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import fc from 'fast-check'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {bounded} from '../../support/property.ts'
import {standIn, type StandIn} from '../../support/stand-in.ts'
import {startTarget, type Target} from '../../support/target.ts'

/** Whose token is shown. A session comes as a cookie. */
type Who = 'nobody' | 'wrong' | 'run' | 'endpoint' | 'session' | 'admin'

let server: TestServer
let mlflow: StandIn
let target: Target
let passed: string[] = []
const shown: Record<Who, string> = {nobody: '', wrong: '', run: '', endpoint: '', session: '', admin: ''}
/** What must never stand in an answer: every token, and its secret part. */
let secrets: string[] = []
const RUN = 'a'.repeat(32)

beforeAll(async () => {
  mlflow = await standIn(() => ({
    run: {info: {artifact_uri: `mlflow-artifacts:/1/${RUN}/artifacts`, experiment_id: '1'}, data: {tags: []}},
    registered_model: {name: 'm', tags: [{key: 'flexrack.experiment', value: '1'}]},
  }))
  target = await startTarget('a', (request, response) => {
    passed.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  server = await openTestServer({pace: {everyMs: 1000, bytes: 1}}, {mlflowSocket: mlflow.socket})
  await server.activate('digits', [target.url])
  const issue = async (body: object): Promise<string> =>
    ((await (await server.call('POST', '/flexrack/v1/tokens', {body})).json()) as {token: string}).token
  const tokens = {
    run: await issue({kind: 'run', run_id: RUN, experiment_id: '1', ttl_seconds: 600}),
    endpoint: await issue({kind: 'endpoint', endpoint: 'digits', ttl_seconds: 600}),
  }
  const {path} = (await (await server.call('POST', '/flexrack/v1/login-codes', {body: {}})).json()) as {path: string}
  const cookie = (await fetch(server.url + path, {redirect: 'manual'})).headers.get('set-cookie')!.split(';')[0]!
  for (const who of ['run', 'endpoint'] as const) shown[who] = `Authorization: Bearer ${tokens[who]}\r\n`
  shown.session = `Cookie: ${cookie}\r\n`
  shown.admin = `Authorization: Bearer ${server.admin}\r\n`
  shown.wrong = `Authorization: Bearer ${tokens.run.slice(0, -1)}${tokens.run.endsWith('A') ? 'B' : 'A'}\r\n`
  secrets = [tokens.run, tokens.endpoint, cookie.split('=')[1]!, server.admin].map((token) => token.split('.').at(-1)!)
})
afterAll(async () => {
  await server?.close()
  await target?.stop()
  await mlflow?.stop()
})

/** Sends exactly this, and gives what comes back until the other side ends it or has answered. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({host: '127.0.0.1', port: Number(new URL(server.url).port)})
    const chunks: Buffer[] = []
    const end = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(Buffer.concat(chunks).toString('latin1'))
    }
    const timer = setTimeout(
      () => (socket.destroy(), reject(new Error(`no answer to ${JSON.stringify(text.slice(0, 500))}`))),
      20_000,
    )
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', end)
    socket.on('error', end)
    socket.write(Buffer.from(text, 'latin1'))
  })
}

/**
 * Files of the head and their contents: what may not change by who may change nothing. Refusals are noted, so the log of
 * them is left out; what it can be brought to is tested with it.
 */
async function state(): Promise<string> {
  const files = (await readdir(server.folder, {recursive: true})).filter((file) => !file.startsWith('audit')).toSorted()
  const contents = await Promise.all(
    files.map(async (file) =>
      (await stat(join(server.folder, file))).isFile() ? readFile(join(server.folder, file), 'utf8') : '',
    ),
  )
  return JSON.stringify([files, contents])
}

const odd = fc.oneof(
  fc.string({maxLength: 30}),
  fc.constantFrom(
    '',
    '.',
    '..',
    '%2e%2e',
    '%2f',
    '%00',
    '%zz',
    '%',
    '__proto__',
    'constructor',
    'self',
    'digits',
    'Digits',
    'ü',
    '\\',
    ';',
    '*',
    'v2',
    'x'.repeat(600),
  ),
)
const segment = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'flexrack',
      'v1',
      'tokens',
      'self',
      'locks',
      'endpoints',
      'login',
      'login-codes',
      'logins',
      'status',
      'digits',
      'v2',
      'models',
      'health',
      'ready',
      'infer',
      'repository',
      'api',
      '2.0',
      '3.0',
      'mlflow',
      'mlflow-artifacts',
      'artifacts',
      'runs',
      'log-batch',
      'registered-models',
      'alias',
      RUN,
      '1',
      'graphql',
      'metrics',
    ),
  },
  {weight: 1, arbitrary: odd},
)
const known = fc.constantFrom(
  '/flexrack/v1/status',
  '/flexrack/v1/tokens',
  '/flexrack/v1/tokens/self',
  '/flexrack/v1/locks',
  '/flexrack/v1/locks/x',
  '/flexrack/v1/endpoints',
  '/flexrack/v1/endpoints/digits',
  '/flexrack/v1/endpoints/x',
  '/flexrack/v1/login',
  '/flexrack/v1/login-codes',
  '/flexrack/v1/logins/abcdefgh',
  '/endpoints/digits/v2/models/digits/infer',
  '/endpoints/digits/v2/models/digits',
  '/endpoints/digits/v2/health/ready',
  '/api/2.0/mlflow/runs/log-batch',
  '/api/2.0/mlflow/runs/create',
  '/api/2.0/mlflow/registered-models/alias',
  '/api/2.0/mlflow/registered-models/create',
  `/api/2.0/mlflow-artifacts/artifacts/1/${RUN}/artifacts/x`,
  '/api/3.0/mlflow/traces',
  '/api/2.0/mlflow/logged-models',
  '/version',
  '/',
)
const path = fc.oneof(
  {weight: 8, arbitrary: known},
  {weight: 1, arbitrary: fc.tuple(known, odd).map(([one, more]) => `${one}/${more}`)},
  {weight: 1, arbitrary: fc.array(segment, {maxLength: 7}).map((parts) => `/${parts.join('/')}`)},
  {weight: 1, arbitrary: odd},
)
const query = fc.oneof(
  {weight: 8, arbitrary: fc.constant('')},
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('code', 'run_id', 'name', 'x', 'max_results'), odd)
      .map(([name, value]) => `?${name}=${value}`),
  },
  {weight: 1, arbitrary: fc.constantFrom('?', '?code', '?code=a&code=b', '?code[]=1', '?__proto__=1', '??')},
)
const method = fc.oneof(
  {weight: 8, arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE')},
  {weight: 1, arbitrary: fc.constantFrom('OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'get', 'NONE', '')},
)
const call = fc.oneof(
  {weight: 1, arbitrary: fc.tuple(method, path)},
  {
    weight: 2,
    arbitrary: fc.constantFrom<[string, string]>(
      ['POST', '/flexrack/v1/tokens'],
      ['PUT', '/flexrack/v1/locks/x'],
      ['DELETE', '/flexrack/v1/locks/x'],
      ['PUT', '/flexrack/v1/endpoints/x'],
      ['DELETE', '/flexrack/v1/endpoints/x'],
      ['GET', '/flexrack/v1/endpoints/x'],
      ['POST', '/flexrack/v1/login-codes'],
      ['GET', '/flexrack/v1/login'],
      ['POST', '/endpoints/digits/v2/models/digits/infer'],
      ['GET', '/endpoints/digits/v2/health/ready'],
      ['POST', '/api/2.0/mlflow/runs/log-batch'],
      ['POST', '/api/2.0/mlflow/runs/create'],
      ['POST', '/api/2.0/mlflow/registered-models/alias'],
      ['POST', '/api/2.0/mlflow/registered-models/create'],
      ['POST', '/api/3.0/mlflow/traces'],
      ['POST', '/api/2.0/mlflow/logged-models'],
      ['PUT', `/api/2.0/mlflow-artifacts/artifacts/1/${RUN}/artifacts/x`],
    ),
  },
)
const field = fc.constantFrom(
  'kind',
  'run_id',
  'experiment_id',
  'endpoint',
  'ttl_seconds',
  'owner',
  'fence',
  'revision',
  'document',
  'name',
  'tags',
  'key',
  'value',
  'run_uuid',
  'runId',
  'source_run_id',
  'trace',
  'alias',
  '__proto__',
  'constructor',
  'toString',
)
const value = fc.oneof(
  fc.constantFrom<unknown>(
    'run',
    'endpoint',
    'session',
    'admin',
    'digits',
    'm',
    '1',
    RUN,
    0,
    1,
    -1,
    1e308,
    null,
    true,
    [],
    {},
    [null],
    [{key: 'mlflow.parentRunId', value: RUN}],
    {active: {targets: ['http://127.0.0.1:1']}},
    {active: {targets: 'x'}},
    {active: {targets: [1]}},
    {active: 5},
    {active: null},
    '__proto__',
  ),
  fc.jsonValue({maxDepth: 2}),
)
/** Nearly right: one field in several is another. */
const near = fc.oneof(
  fc.record({revision: fc.constantFrom(0, 1), document: value}),
  fc.record({
    kind: fc.constantFrom('run', 'endpoint', 'session'),
    run_id: value,
    experiment_id: value,
    endpoint: value,
    ttl_seconds: fc.constantFrom<unknown>(1, 1e-300, 1e308, '1', null),
  }),
  fc.record(
    {owner: value, ttl_seconds: fc.constantFrom<unknown>(1, 1e308), fence: value},
    {requiredKeys: ['ttl_seconds']},
  ),
  fc.record({name: value, tags: value, key: value}),
  fc.record({run_id: value, tags: value}),
)
const body = fc.oneof(
  {weight: 4, arbitrary: near.map((one) => JSON.stringify(one))},
  {weight: 6, arbitrary: fc.dictionary(field, value, {maxKeys: 5}).map((one) => JSON.stringify(one))},
  {weight: 1, arbitrary: fc.jsonValue().map((one) => JSON.stringify(one))},
  {weight: 1, arbitrary: fc.string({maxLength: 100})},
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{',
      '{"__proto__": {"kind": "run"}}',
      'null',
      '"x"',
      '\ufeff{}',
      `${'['.repeat(5000)}`,
    ),
  },
)
const extra = fc.array(
  fc.oneof(
    fc.constantFrom(
      'Content-Type: application/json',
      'Content-Type: text/plain',
      'Content-Type: \t',
      'Expect: 100-continue',
      'Origin: http://elsewhere',
      'Origin: null',
      'Cookie: flexrack_session_1=x',
      'Cookie: __proto__=x',
      'X-HTTP-Method-Override: DELETE',
      'Upgrade: websocket',
      'Range: bytes=0-',
      'Accept-Encoding: gzip',
      'X-Forwarded-For: 127.0.0.1',
      'Content-Encoding: gzip',
      'Connection: authorization',
      'TE: trailers',
      'Keep-Alive: x',
      'Accept-Version: 1',
    ),
    fc.stringMatching(/^X-[A-Za-z]{1,8}: [ -~]{0,40}$/),
  ),
  {maxLength: 3},
)
const framing = fc.oneof(
  {weight: 20, arbitrary: fc.constant('length')},
  {weight: 4, arbitrary: fc.constantFrom('chunked', 'none')},
  {weight: 1, arbitrary: fc.constantFrom('short', 'long', 'both', 'bad')},
)
const who = fc.constantFrom<Who>('nobody', 'wrong', 'run', 'endpoint', 'session', 'admin')

function frame(how: string, text: string): string {
  const bytes = Buffer.byteLength(text, 'latin1')
  if (how === 'none') return '\r\n'
  if (how === 'chunked')
    return `Transfer-Encoding: chunked\r\n\r\n${bytes > 0 ? `${bytes.toString(16)}\r\n${text}\r\n` : ''}0\r\n\r\n`
  if (how === 'both') return `Transfer-Encoding: chunked\r\nContent-Length: ${bytes}\r\n\r\n${text}`
  if (how === 'bad') return `Content-Length: -1\r\n\r\n${text}`
  return `Content-Length: ${how === 'short' ? Math.max(0, bytes - 3) : how === 'long' ? bytes + 10 : bytes}\r\n\r\n${text}`
}

test('whatever is sent to the head: no failure of its own, no change without a right to it, no secret in an answer', async () => {
  const counts: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(
      who,
      call,
      query,
      extra,
      framing,
      body,
      async (caller, [verb, where], requested, headers, how, content) => {
        // What an administrator or a run may end (its own token) is tried elsewhere; here they are to live until the end.
        fc.pre(
          !(/tokens\/self/i.test(where) && ['DELETE', 'PATCH'].includes(verb)) &&
            !(
              caller === 'admin' &&
              (/logins\//i.test(where) || (where.endsWith('endpoints/digits') && !['GET', 'HEAD'].includes(verb)))
            ),
        )
        const before = caller === 'admin' ? '' : await state()
        passed = []
        mlflow.seen.length = 0
        const answer = await exchange(
          `${verb} ${where}${requested} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nConnection: close\r\n${shown[caller]}${headers.map((line) => `${line}\r\n`).join('')}${frame(how, content)}`,
        )
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, ''))?.[1] ?? 0)
        counts[`${caller} ${status}`] = (counts[`${caller} ${status}`] ?? 0) + 1
        expect(status).toBeLessThan(500)
        for (const secret of secrets) expect(answer).not.toContain(secret)
        expect(answer).not.toMatch(/\n\s+at .*(\.ts|\.js|\.mjs|node:)/) // the stack of an error
        if (caller === 'admin') return
        expect(await state()).toBe(before)
        if (caller === 'nobody' || caller === 'wrong') {
          expect([...passed, ...mlflow.seen]).toEqual([])
          expect(status < 200 || status >= 300).toBe(true)
        }
        if (caller !== 'endpoint') expect(passed).toEqual([])
        else expect(mlflow.seen).toEqual([])
        expect(passed.filter((call) => !/^(GET|HEAD|POST) \/v2\/models\/digits(\/|$|\?)/.test(call))).toEqual([])
      },
    ),
    bounded('head API', {seconds: 20, runs: 2000}),
  )
  console.info(JSON.stringify(counts))
  expect((await server.call('GET', '/flexrack/v1/status')).status).toBe(200)
  for (const caller of ['run', 'endpoint', 'session', 'admin'] as const)
    expect(Object.keys(counts).filter((key) => key.startsWith(`${caller} 2`))).not.toEqual([])
})
