import {describe, expect, it} from 'vitest'
import {LineReader, type RankLine} from '../../../src/lib/runs/lines.ts'

const source = {node: 'node-1', rank: 0, attempt: 1}

function read(portions: (string | Buffer | number)[], options = {}): [number, string, boolean?][] {
  const reader = new LineReader(source, 0, options)
  let now = 0
  const lines: RankLine[] = []
  for (const portion of portions) {
    if (typeof portion === 'number') lines.push(...reader.tick((now += portion)))
    else lines.push(...reader.take(Buffer.from(portion as string), now))
  }
  lines.push(...reader.end())
  return lines.map((line) => (line.partial ? [line.offset, line.text, true] : [line.offset, line.text]))
}

describe('LineReader', () => {
  it('gives each line with the byte offset at which it begins, however the bytes are cut', () => {
    const text = 'epoch 1\n\ngrößer\nlast'
    const whole = [
      [0, 'epoch 1'],
      [8, ''],
      [9, 'größer'],
      [18, 'last'],
    ]
    expect(read([text])).toEqual(whole)
    expect(read([...Buffer.from(text)].map((byte) => Buffer.from([byte])))).toEqual(whole)
  })

  it('takes CRLF as one end of line', () => {
    expect(read(['a\r\nb\r', '\nc\r\n'])).toEqual([
      [0, 'a'],
      [3, 'b'],
      [6, 'c'],
    ])
  })

  it('shows of a progress bar its last state only', () => {
    expect(read(['10%\r20%\r100%\ndone\n'])).toEqual([
      [8, '100%'],
      [13, 'done'],
    ])
  })

  it('shows a running progress bar at most once in the redraw time, and its end', () => {
    const portions: (string | number)[] = []
    for (let percent = 0; percent <= 100; percent += 5) portions.push(`\r${percent}%`, 100)
    const lines = read([...portions, '\n'], {redraw: 500, idle: 10_000})
    expect(lines.map((line) => line[1])).toEqual(['0%', '25%', '50%', '75%', '100%'])
  })

  it('does not repeat the last state of a bar when its line ends', () => {
    expect(read(['\r99%', '\r100%', 600, '\nnext\n']).map((line) => line[1])).toEqual(['99%', '100%', 'next'])
  })

  it('shows an unfinished line after a silence, and then only its rest', () => {
    expect(read(['Loading', 600, '... done\nnext\n'])).toEqual([
      [0, 'Loading', true],
      [7, '... done'],
      [16, 'next'],
    ])
    expect(read(['Ready? ', 600, '\n', 'yes\n'])).toEqual([
      [0, 'Ready? ', true],
      [8, 'yes'],
    ])
  })

  it('does not cut a character that is shown before its line ends', () => {
    const [first, second] = [Buffer.from('gr\u00f6').subarray(0, 3), Buffer.from('\u00f6\n').subarray(1)]
    expect(read([first, 600, second])).toEqual([
      [0, 'gr', true],
      [2, '\u00f6'],
    ])
  })

  it('survives bytes that are no text', () => {
    const lines = read([Buffer.from([0xff, 0xfe, 0x00, 0x41, 0x0a, 0x80, 0x0a])])
    expect(lines).toEqual([
      [0, '\ufffd\ufffd\u0000A'],
      [5, '\ufffd'],
    ])
  })

  it('hands on a line without an end in portions instead of keeping it for ever', () => {
    const reader = new LineReader(source)
    let length = 0
    for (let round = 0; round < 100; round++)
      for (const line of reader.take(Buffer.alloc(10_000, 'x'), round)) length += line.text.length
    expect(length).toBeGreaterThan(900_000)
    for (const line of reader.end()) length += line.text.length
    expect(length).toBe(1_000_000)
  })

  it('does not keep what a bar without an end has drawn over', () => {
    const reader = new LineReader(source, 0, {redraw: 100})
    const lines: RankLine[] = []
    for (let round = 0; round < 5000; round++)
      lines.push(...reader.take(Buffer.from(`\r${'#'.repeat(80)}${round}`), round))
    lines.push(...reader.take(Buffer.from('\n'), 5000))
    expect(lines.at(-1)?.text).toBe(`${'#'.repeat(80)}4999`)
    expect(lines.length).toBeLessThan(60)
  })
})
