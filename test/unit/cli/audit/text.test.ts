import {expect, test} from 'vitest'
import {auditText} from '../../../../src/cli/audit/text.ts'
import type {HeadAudit} from '../../../../src/lib/protocol/index.ts'

test('a target of several lines is one line of the log that is shown', () => {
  const target = 'x\n7  2026-11-26 10:00:00  admin  user.remove  eve  done'
  const line = {
    seq: 6,
    at: 0,
    who: 'run r',
    action: 'token.revoke',
    target,
    error: 'no\u2028yes',
    before: '',
  } as HeadAudit
  expect(auditText([line]).split(/[\n\u2028]/)).toHaveLength(2)
})
