import fc from 'fast-check'
import {expect, test} from 'vitest'
import {withInclude, withoutInclude} from '../../../src/lib/ssh-host/include.ts'

const FILE = '/home/ü/.config/flexrack/ssh/hosts.conf'
const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

test.each([
  ['nothing', ''],
  ['a Match at the top', 'Match host x\n  User y\n'],
  ['CRLF', 'Host a\r\n  User b\r\n'],
  ['no final newline', 'Host a\n  User b'],
  ['bytes that are no UTF-8', 'Host a\n# \xff\xfe\0\n'],
])('with %s: put before all else once, and taken away byte by byte', (_, text) => {
  const once = withInclude(text, FILE)
  expect(once.endsWith(text)).toBe(true)
  expect(once.split(/\r?\n/)[0]).toBe(latin1(`Include "${FILE}"`))
  expect(withInclude(once, FILE)).toBe(once)
  expect(withoutInclude(once, FILE)).toBe(text)
})

test('a line end is the one that the file has', () => {
  expect(withInclude('Host a\r\n', '/x')).toBe('Include "/x"\r\nHost a\r\n')
})

test('a line below a Host counts for that host alone, so it is moved', () => {
  expect(withInclude('Host a\n  include /x\nHost b\n', '/x')).toBe('Include "/x"\nHost a\nHost b\n')
})

test('whatever the file is, it comes back as it was, and other lines that include stay', () => {
  const lines = fc.array(
    fc.constantFrom('Host a', '  User b', 'Match all', 'Include "/other"', 'Include /xy', '', '\r', '#', 'Include'),
    {maxLength: 8},
  )
  fc.assert(
    fc.property(lines, fc.constantFrom('', '\n'), (parts, end) => {
      const text = parts.join('\n') + end
      const once = withInclude(text, '/x')
      expect(withInclude(once, '/x')).toBe(once)
      expect(withoutInclude(once, '/x')).toBe(text)
    }),
  )
})
