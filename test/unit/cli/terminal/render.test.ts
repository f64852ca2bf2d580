import {count, sizeText} from '../../../../src/lib/base/index.ts'
import {describe, expect, it} from 'vitest'
import {ago, duration, fields, minute, planText, table} from '../../../../src/cli/terminal/render.ts'

describe('table', () => {
  it('puts cells under their headings, two spaces apart, and shows missing cells as a dash', () => {
    const rows = [
      {name: 'node-1', cores: '8'},
      {name: 'n2', cores: undefined},
    ]
    expect(table(rows, ['name', {key: 'cores', align: 'right'}])).toBe('NAME    CORES\nnode-1      8\nn2          -')
  })

  it('does not count colour codes as width', () => {
    const [head, row] = table([{a: '\u001B[32mok\u001B[39m', b: 'x'}], ['a', 'b']).split('\n')
    expect(head).toBe('A   B')
    expect(row).toBe('\u001B[32mok\u001B[39m  x')
  })

  it('leaves out what it can spare where the screen is too narrow', () => {
    const draw = (width: number): string | undefined =>
      table(
        [{run: 'digits-1', nodes: 'node-1,node-2', loss: '0.1'}],
        ['run', {key: 'nodes', spare: true}, 'loss'],
        width,
      ).split('\n')[1]
    expect(draw(29)).toBe('digits-1  node-1,node-2  0.1')
    expect(draw(27)).toBe('digits-1  0.1')
    expect(draw(5)).toBe('digits-1  0.1')
  })

  it('is the empty string without rows', () => {
    expect(table([], ['name'])).toBe('')
  })
})

describe('fields', () => {
  it('aligns the values, leaves out what is undefined and indents further lines', () => {
    expect(
      fields([
        ['name', 'digits'],
        ['gone', undefined],
        ['accuracy', 0.97],
        ['log', 'a\nb'],
      ]),
    ).toBe('name:     digits\naccuracy: 0.97\nlog:      a\n          b')
  })
})

describe('numbers for people', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [4240, '4.2 s'],
    [59_960, '1 min 00 s'],
    [185_000, '3 min 05 s'],
    [7_800_000, '2 h 10 min'],
    [273_600_000, '3 d 4 h'],
  ])('shows %d milliseconds as %s', (value, text) => {
    expect(duration(value)).toBe(text)
  })

  it.each([
    [0, '0 B'],
    [812, '812 B'],
    [4096, '4.0 KiB'],
    [1_288_490_189, '1.2 GiB'],
  ])('shows %d bytes as %s', (value, text) => {
    expect(sizeText(value)).toBe(text)
  })

  it.each([
    [0, 'now'],
    [12, '12 s ago'],
    [200, '3 min ago'],
    [5 * 3600 + 60, '5 h ago'],
    [50 * 3600, '2 d ago'],
  ])('shows what was %d seconds ago as "%s"', (seconds, text) => {
    const now = Date.parse('2026-01-10T00:00:00Z')
    expect(ago(new Date(now - seconds * 1000), now)).toBe(text)
  })

  it('writes a minute in UTC', () => {
    expect(minute(Date.UTC(2026, 0, 31, 18, 5, 59))).toBe('2026-01-31 18:05')
  })

  it('gives a count its noun', () => {
    expect([count(1, 'node'), count(3, 'node'), count(0, 'query', 'queries')]).toEqual([
      '1 node',
      '3 nodes',
      '0 queries',
    ])
  })
})

describe('planText', () => {
  it('numbers the steps and names those that a step waits for', () => {
    const step = {kind: 'sync', input: {}}
    const text = planText({
      command: 'workspace up',
      steps: [
        {...step, id: 'a', node: 'node-1', title: 'Sync code', needs: []},
        {...step, id: 'b', node: null, title: 'Tell', needs: ['a']},
      ],
    })
    expect(text).toBe(
      '#  AFTER  NODE    WHAT\n1  -      node-1  Sync code\n2  1      (here)  Tell\n\n2 steps; nothing was changed (--dry-run).',
    )
  })

  it('says so where there is nothing to do', () => {
    expect(planText({command: 'local down', steps: []})).toBe('Nothing to do for local down.')
  })
})
