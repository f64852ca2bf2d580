import {PassThrough, Readable} from 'node:stream'
import {expect, test} from 'vitest'
import {callVerb} from '../../../src/lib/host/call.ts'
import type {Verb} from '../../../src/lib/host/index.ts'
import {fromEnv, fromStep} from '../../../src/lib/plan/index.ts'
import type {NodeShell, SpawnOptions} from '../../../src/lib/ssh/index.ts'

const installation = {root: '/r', environments: '/r/environments', python: '/usr/bin/python3', folder: '/r/program'}

test('the input goes along with the script and not after it has begun; a body follows', async () => {
  const stdin = new PassThrough()
  let first: SpawnOptions['first']
  const shell = {
    node: 'a',
    spawn: async (_script: string, options: SpawnOptions) => {
      first = options.first
      return {
        stdin,
        stdout: Readable.from([Buffer.from('{"result": 7}\n')]),
        stderr: Readable.from([]),
        exit: Promise.resolve({status: 0, signal: null}),
        kill: () => {},
      }
    },
  } as unknown as NodeShell
  expect(
    await callVerb(shell, installation, 'some.verb' as Verb, {one: 1} as never, {
      body: Readable.from([Buffer.from('body')]),
    }),
  ).toBe(7)
  expect(first).toBe('{"one":1}\n')
  expect(String(stdin.read())).toBe('body')
})

test('a line without an end is no answer, and ends what sends it', async () => {
  const killed: unknown[] = []
  let sent = 0
  const block = Buffer.alloc(8 * 1024 ** 2, 'a')
  async function* endless() {
    for (;;) {
      sent += block.length
      yield block
    }
  }
  const shell = {
    node: 'a',
    spawn: async () => ({
      stdin: new PassThrough(),
      stdout: Readable.from(endless()),
      stderr: Readable.from([]),
      exit: Promise.resolve({status: 0, signal: null}),
      kill: (name: unknown) => killed.push(name),
    }),
  } as unknown as NodeShell
  await expect(callVerb(shell, installation, 'some.verb' as Verb, {} as never)).rejects.toMatchObject({
    code: 'REMOTE_FAILED',
    message: expect.stringContaining('a line of more than 128 MiB') as string,
  })
  expect(sent).toBeLessThan(256 * 1024 ** 2)
  expect(killed).toEqual(['TERM'])
})

test('an answer may come in pieces, and without a line end', async () => {
  const shell = {
    node: 'a',
    spawn: async () => ({
      stdin: new PassThrough(),
      stdout: Readable.from(
        [...Buffer.from('noise\r\n{"event": 1}\n{"result": "größer"}')].map((byte) => Buffer.from([byte])),
      ),
      stderr: Readable.from([]),
      exit: Promise.resolve({status: 0, signal: null}),
      kill: () => {},
    }),
  } as unknown as NodeShell
  const events: unknown[] = []
  expect(
    await callVerb(shell, installation, 'some.verb' as Verb, {} as never, {onEvent: (event) => events.push(event)}),
  ).toBe('größer')
  expect(events).toEqual([{event: 1}])
})

const answering = (line: string) =>
  ({
    node: 'a',
    spawn: async () => ({
      stdin: new PassThrough(),
      stdout: Readable.from([Buffer.from(`${line}\n`)]),
      stderr: Readable.from([]),
      exit: Promise.resolve({status: 0, signal: null}),
      kill: () => {},
    }),
  }) as unknown as NodeShell

test.each([
  JSON.stringify({result: [fromStep('reach'), 1]}),
  JSON.stringify({result: {deep: fromEnv('secret', 'part')}}),
  '{"result": {"code": {"$output": "reach"}}}',
  '{"result": {"gpus": [{"uuid": {"\\u0024env": "secret"}}]}}',
  '{"event": "facts", "value": {"$output": "reach", "at": ["token"]}}',
])('%s, which would be a reference in a plan, is no answer', async (line) => {
  await expect(callVerb(answering(line), installation, 'some.verb' as Verb, {} as never)).rejects.toMatchObject({
    code: 'REMOTE_FAILED',
    message: expect.stringContaining('a reference') as string,
    details: {node: 'a'},
  })
})

test('words that only look like a reference are answered', async () => {
  expect(
    await callVerb(
      answering('{"result": {"$env": 1, "text": "$output"}}'),
      installation,
      'some.verb' as Verb,
      {} as never,
    ),
  ).toEqual({$env: 1, text: '$output'})
})
