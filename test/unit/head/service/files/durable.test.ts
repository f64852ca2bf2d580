import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {readDurable, writeDurably} from '../../../../../src/lib/head/service/files/durable.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-durable-'))
})
afterEach(async () => {
  await rm(folder, {recursive: true, force: true})
})

test('only a file that is not there is absent', async () => {
  const file = join(folder, 'state.json')
  expect(await readDurable('head.locks', file, 'none')).toBe('none')
  await writeDurably('head.locks', file, {one: 1})
  expect(await readDurable('head.locks', file, 'none')).toEqual({one: 1})
  await expect(readDurable('head.locks', folder, 'none')).rejects.toThrow('cannot be read')
})

// Two heads may start at once where there was none: each writes a draft of its own, and whichever name it takes last is
// whole.
test('two processes that write one file leave a whole one, and no draft', async () => {
  const file = join(folder, 'state.json')
  const module = resolve(import.meta.dirname, '../../../../../src/lib/head/service/files/durable.ts')
  const write = (mark: string, size: number): string =>
    `const {writeDurably} = await import(${JSON.stringify(module)}); for (let i = 0; i < 60; i++) await writeDurably('head.locks', ${JSON.stringify(file)}, {text: '${mark}'.repeat(${size})})`
  const writers = [write('a', 200_000), write('b', 300_000)].map((code) =>
    spawn(process.execPath, ['--input-type=module', '-e', code], {stdio: ['ignore', 'ignore', 'pipe']}),
  )
  const errors: string[] = []
  for (const writer of writers) writer.stderr.on('data', (data: Buffer) => errors.push(data.toString()))
  const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'close'))[0] as number))
  expect({codes, errors}).toEqual({codes: [0, 0], errors: []})
  const {text} = JSON.parse(await readFile(file, 'utf8')) as {text: string}
  expect([`a${200_000}`, `b${300_000}`]).toContain(`${text[0]}${text.length}`)
  expect(await readdir(folder)).toEqual(['state.json'])
})
