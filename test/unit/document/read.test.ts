import {mkdtemp, rm, truncate, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {problemAt, readSource} from '../../../src/lib/document/index.ts'

let folder: string
const read = (text: string) => readSource('/f.yaml', {text})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-document-'))
})
afterAll(() => rm(folder, {recursive: true, force: true}))

describe('reading a file', () => {
  it('refuses a file of 100 MB without reading it', async () => {
    const file = join(folder, 'big.yaml')
    await writeFile(file, 'name: x\n')
    await truncate(file, 100_000_000)
    const {problems, broken} = await readSource(file)
    expect(broken).toBe(true)
    expect(problems).toMatchObject([
      {file, line: 1, column: 1, message: 'the file has 100000000 bytes; more than 256 KiB is not read'},
    ])
  })

  it.each([
    ['not UTF-8', Buffer.from([0x6e, 0xff, 0xfe]), 'the file is not UTF-8 text'],
    ['binary', Buffer.from('a\0b'), 'the file contains NUL bytes; it is not a text file'],
  ])('refuses a file that is %s', async (_what, content, message) => {
    const file = join(folder, 'odd.yaml')
    await writeFile(file, content)
    expect((await readSource(file)).problems).toMatchObject([{line: 1, column: 1, message}])
  })

  it('refuses a folder and takes a byte order mark for nothing', async () => {
    expect((await readSource(folder)).problems[0]?.message).toBe('this is not a regular file')
    const file = join(folder, 'bom.yaml')
    await writeFile(file, '\u{FEFF}name: x\n')
    expect((await readSource(file)).value).toEqual({name: 'x'})
  })
})

describe('YAML that is wrong or hostile', () => {
  it('is answered with line and column of the slip', async () => {
    expect((await read('name: x\n\ttrain: 1\n')).problems).toMatchObject([
      {line: 2, column: 1, message: 'not valid YAML: a tab is used as indentation; use spaces'},
    ])
    expect((await read('name: a: b\n')).problems[0]).toMatchObject({line: 1, column: 7})
    expect((await read('a: 1\n---\nb: 2\n')).problems[0]).toMatchObject({
      line: 2,
      message: expect.stringContaining('one file holds one document'),
    })
    expect((await read('a: !secret x\n')).problems[0]).toMatchObject({line: 1, column: 4})
  })

  it('names the second of two equal keys, in flow and block style, and keeps the first value', async () => {
    const {problems, value, broken} = await read('a: 1\nb: {c: 1, c: 2}\na: 2\n')
    expect(broken).toBe(false)
    expect(value).toEqual({a: 1, b: {c: 1}})
    expect(problems.map(({line, column, message}) => `${line}:${column} ${message}`)).toEqual([
      '2:11 the key "c" is given twice',
      '3:1 the key "a" is given twice',
    ])
  })

  it('does not expand a billion laughs', async () => {
    const lines = ['l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]']
    for (let level = 1; level < 9; level++)
      lines.push(
        `l${level}: &l${level} [${Array(9)
          .fill(`*l${level - 1}`)
          .join(', ')}]`,
      )
    const {problems, broken} = await read(lines.join('\n'))
    expect(broken).toBe(true)
    expect(problems).toMatchObject([{message: 'more than 50000 values; are there aliases of aliases?'}])
  })

  it.each([
    ['brackets without end', '['.repeat(60_000)],
    ['an alias of itself', 'a: &x [*x]'],
    ['deep lists', `a: ${'['.repeat(40)}${']'.repeat(40)}`],
  ])('answers %s with "nested too deeply"', async (_what, text) => {
    const {problems, broken} = await read(text)
    expect(broken).toBe(true)
    expect(problems[0]).toMatchObject({line: 1, message: 'nested too deeply'})
  })

  it('takes __proto__ for a name like any other', async () => {
    const {value} = await read('__proto__: {polluted: true}\n')
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(({} as {polluted?: boolean}).polluted).toBeUndefined()
  })

  it('follows aliases, and tells that an anchor is missing', async () => {
    expect((await read('a: &x {b: 1}\nc: *x\n')).value).toEqual({a: {b: 1}, c: {b: 1}})
    expect((await read('a: *nowhere\n')).problems[0]).toMatchObject({line: 1, column: 4})
  })
})

describe('places', () => {
  it('are those of values, of keys, and of the nearest parent where there is nothing', async () => {
    const source = await read('train:\n  outputs: [a, bcd]\n')
    const at = (path: (string | number)[], what: 'key' | 'value') => {
      const {line, column} = problemAt(source, source.span(path, what), '')
      return [line, column]
    }
    expect(at(['train', 'outputs', 1], 'value')).toEqual([2, 16])
    expect(at(['train', 'outputs'], 'key')).toEqual([2, 3])
    expect(at(['train', 'nodes'], 'value')).toEqual([1, 1])
    expect(at(['endpoints', 'x', 'model'], 'value')).toEqual([1, 1])
  })

  it('come with an excerpt whose carets stand below what is meant', async () => {
    const source = await read('a: 1\nname: Digits # no\n')
    expect(problemAt(source, source.span(['name'], 'value'), '').excerpt).toBe(
      '2 | name: Digits # no\n  |       ^^^^^^',
    )
  })

  it('keep an excerpt short and free of control characters', async () => {
    const source = await read(`a: "${'x'.repeat(500)}"\nb: "q\u001B[31m\u202E" # c\n`)
    for (const key of ['a', 'b']) {
      const excerpt = problemAt(source, source.span([key], 'value'), '').excerpt ?? ''
      expect(excerpt).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/)
      for (const line of excerpt.split('\n')) expect(line.length).toBeLessThan(120)
    }
  })
})
