import {expect, test} from 'vitest'
import {jsonText, printable} from '../../../../src/cli/terminal/printable.ts'

test('names in JSON change no terminal, and are read as they were', () => {
  const value = {name: 'a\u009b2Jb\u001b[2J', more: ['\u202egpj.exe', 'größe', '\u2066x', '\u007f']}
  for (const text of [jsonText(value), jsonText(value, 2)]) {
    // oxlint-disable-next-line no-control-regex
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    expect(JSON.parse(text)).toEqual(value)
  }
  expect(jsonText(undefined)).toBe('null')
})

test('text that came from elsewhere neither moves the cursor nor turns the direction of what follows', () => {
  expect(printable('a\u001b[2Jb\u009b2Jc\u202ed\u2066e\u0007f', false)).toBe('abcdef')
  expect(printable('\u001b[31mred', true)).toBe('\u001b[31mred\u001b[0m')
})
