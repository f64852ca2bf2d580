import {expect, test, vi} from 'vitest'
import {logLine} from '../../../../src/lib/head/service/log.ts'

test('what comes from others begins no entry of the log', () => {
  const written: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  try {
    logLine('run x\n2026-01-01T00:00:00Z the admin said so\r2026\u2028y')
  } finally {
    write.mockRestore()
  }
  const [first, ...others] = written.join('').split('\n').slice(0, -1)
  expect(first).toMatch(/^\d{4}-\S+Z run x$/)
  expect(others).toEqual(['  2026-01-01T00:00:00Z the admin said so', '  2026', '  y'])
})
