import {hash} from 'node:crypto'
import {appendFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setImmediate} from 'node:timers/promises'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {rememberBase} from '../../../src/lib/workspace/bases.ts'
import {Content} from '../../../src/lib/workspace/content.ts'
import {DIGEST_DIGITS} from '../../../src/lib/workspace/entry.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flexrack-content-'))
})

afterEach(() => rmSync(folder, {recursive: true}))

const digestOf = (data: Buffer): string => hash('sha256', data).slice(0, DIGEST_DIGITS)

/** Writes the files, and gives what a node lacks that has none of them. */
function lacking(files: Buffer[]): {send: Map<string, {path: string; size: number}>; bytes: number} {
  const send = new Map(
    files.map((data, index) => {
      writeFileSync(join(folder, `file${index}`), data)
      return [digestOf(data), {path: `file${index}`, size: data.length}] as const
    }),
  )
  return {send, bytes: files.reduce((sum, one) => sum + one.length, 0)}
}

/** Several pieces each, the last one short. */
const files = (): Buffer[] => [1, 2, 3].map((value) => Buffer.alloc(700_000 + value, value))
const contentOf = (delta: ReturnType<typeof lacking>): Content => new Content(folder, delta, {amount: () => {}})

async function bytesOf(content: Content): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of content.read()) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Files below the folder that this process has open now. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').filter((one) => {
    try {
      return readlinkSync(`/proc/self/fd/${one}`).startsWith(folder)
    } catch {
      return false // the look itself
    }
  }).length
}

/** The most of them at once, looked at again and again until the work is done. */
async function mostOpen(work: Promise<unknown>): Promise<number> {
  let [most, working] = [0, true]
  void work.finally(() => (working = false)).catch(() => {})
  while (working) {
    most = Math.max(most, openFiles())
    await setImmediate()
  }
  await work
  return most
}

test('has a few files open, however many nodes get them', async () => {
  const delta = lacking(files())
  const readAll = async (): Promise<string> => digestOf(await bytesOf(contentOf(delta)))
  const got = Promise.all(Array.from({length: 60}, readAll))
  expect(await mostOpen(got)).toBeLessThanOrEqual(8)
  expect(new Set(await got)).toEqual(new Set([digestOf(Buffer.concat(files()))]))
})

test('nodes that take a piece and no more keep no file open and nobody waiting', async () => {
  const delta = lacking(files())
  const stalled = Array.from({length: 20}, () => contentOf(delta).read())
  for (const one of await Promise.all(stalled.map((one) => one.next()))) expect(one.value?.length).toBe(256 << 10)
  expect(openFiles()).toBe(0)
  expect((await bytesOf(contentOf(delta))).length).toBe(delta.bytes)
  await Promise.all(stalled.map((one) => one.return(undefined)))
})

test('a small file takes no more memory than it has bytes, and an empty one is no piece', async () => {
  const pieces: Buffer[] = []
  for await (const piece of contentOf(lacking([Buffer.from('small'), Buffer.alloc(0)])).read()) pieces.push(piece)
  expect(pieces.map(String)).toEqual(['small'])
  expect(pieces[0]?.buffer.byteLength).toBeLessThan(256 << 10)
})

test.for<[string, (path: string) => void]>([
  ['longer', (path) => appendFileSync(path, 'x')],
  ['shorter', (path) => truncateSync(path, 10)],
  ['other', (path) => writeFileSync(path, Buffer.alloc(700_001, 9))],
  ['gone', (path) => rmSync(path)],
])('a file that is %s now ends it, and is named', async ([, change]) => {
  const content = contentOf(lacking(files()))
  change(join(folder, 'file0'))
  const bytes = (await bytesOf(content)).length
  expect(bytes).toBeLessThanOrEqual(700_001)
  expect(content.problem).toMatchObject({code: 'CONFLICT', details: {path: 'file0', changing: true}})
})

test('what was synced is written once, however many nodes are synced', async () => {
  const context = makeContext({env: {FLEXRACK_HOME: join(folder, 'home')}})
  const remembered = Promise.all(
    Array.from({length: 60}, () =>
      rememberBase('/project', 'abc', new Map([['a', {kind: 'f', digest: '0', executable: false}]]), context),
    ),
  )
  expect(await mostOpen(remembered)).toBeLessThanOrEqual(2) // it, and the folder
})
