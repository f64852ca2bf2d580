import {describe, expect, it} from 'vitest'
import {chartText} from '../../../../src/cli/runs/chart.ts'
import {printable} from '../../../../src/cli/terminal/printable.ts'
import {rankLineText} from '../../../../src/cli/runs/lines.ts'
import {shortNumber} from '../../../../src/cli/runs/metric-text.ts'

describe('rankLineText', () => {
  it('puts node and rank before the line, the bars under each other', () => {
    expect(
      rankLineText({node: 'node-1', rank: 0, attempt: 1, offset: 0, text: 'epoch 1'}, {width: 9, color: false}),
    ).toBe('node-1:0  | epoch 1')
  })
})

describe('printable', () => {
  it('takes out everything that would do something to the terminal', () => {
    const nasty = 'a\u001B[2J\u001B[5;5Hb\u001B]0;title\u0007c\u0007\u0008\u0000\u009B31md\u001B[31mred\u001B[0m\tend'
    expect(printable(nasty, false)).toBe('abcdred\tend')
  })

  it('keeps colours where they are wanted, and ends them', () => {
    expect(printable('\u001B[31mred\u001B[1A', true)).toBe('\u001B[31mred\u001B[0m')
  })

  it.each([
    ['the clipboard', '\u001B]52;c;ZXZpbA==\u0007'],
    ['the clipboard, 8 bit', '\u009D52;c;ZXZpbA==\u009C'],
    ['the title', '\u001B]0;evil\u001B\\'],
    ['a link', '\u001B]8;;http://evil\u001B\\'],
    ['the cursor, 8 bit', '\u009B2J'],
    ['device control', '\u001BP+q544e\u001B\\'],
    ['a reset', '\u001Bc'],
    ['bare bytes', '\u001B\b\r\u0000'],
  ])('lets no text reach %s', (_what, nasty) => {
    for (const color of [true, false]) {
      const shown = printable(`a${nasty}b\n\tc`, color)
      // oxlint-disable-next-line no-control-regex
      expect(shown).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/)
      expect(shown).toMatch(/^a[^]*\n\tc$/)
    }
  })

  it('leaves what chalk has coloured as it is, and ends what was not ended', () => {
    expect(printable('\u001B[31mred\u001B[39m.\n', true)).toBe('\u001B[31mred\u001B[39m.\n')
    expect(printable('\u001B[8mhidden', true)).toBe('\u001B[8mhidden\u001B[0m')
  })

  it('does not touch ordinary text', () => {
    expect(printable('größer ✓ 模型', true)).toBe('größer ✓ 模型')
  })
})

describe('chartText', () => {
  it('draws from the highest value at the top to the lowest at the bottom', () => {
    const rows = chartText(
      'loss',
      [
        {step: 0, value: 1},
        {step: 10, value: 0},
      ],
      {width: 20, height: 3},
    ).split('\n')
    expect(rows[1]).toMatch(/^1 │[⠀-⣿]/)
    expect(rows[3]).toMatch(/^0 │/)
    expect(rows[1]?.at(3)).not.toBe('⠀')
    expect(rows[3]?.at(-1)).not.toBe('⠀')
    expect(rows.at(-1)).toMatch(/step 0 +10$/)
  })

  it('copes with one value, equal values and none', () => {
    for (const values of [
      [{step: 3, value: 5}],
      [
        {step: 0, value: 2},
        {step: 1, value: 2},
      ],
    ])
      expect(chartText('m', values, {width: 30, height: 4})).toContain('m')
    expect(chartText('m', [{step: 0, value: Number.NaN}], {width: 30, height: 4})).toBe('m: no values')
  })
})

describe('shortNumber', () => {
  it('keeps four digits that matter', () => {
    expect([0.97654321, 1234.567, 3, 0.00001234, 12_345_678, 0].map(shortNumber)).toEqual([
      '0.9765',
      '1235',
      '3',
      '1.23e-5',
      '1.23e+7',
      '0',
    ])
  })
})
