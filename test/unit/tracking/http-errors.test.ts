import {expect, test} from 'vitest'
import {errorFromAnswer, errorFromTransport, isPassing} from '../../../src/lib/tracking/http-errors.ts'

test.each([
  [404, '{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"No run x"}', 'NOT_FOUND', 'the server: No run x'],
  [400, '{"error_code":"RESOURCE_ALREADY_EXISTS","message":"there"}', 'CONFLICT', 'the server: there'],
  [400, '{"error_code":"INVALID_PARAMETER_VALUE","message":"bad"}', 'HEAD_FAILED', 'the server: bad'],
  [403, '{"error_code":"PERMISSION_DENIED","message":"not yours"}', 'REFUSED', 'the server: not yours'],
  [401, 'Unauthorized', 'REFUSED', 'the server: Unauthorized'],
  [409, '{"error":{"code":"LOCKED","message":"taken","holder":"me"}}', 'LOCKED', 'the server: taken'],
  [503, '{"error":"no active release"}', 'HEAD_FAILED', 'the server: no active release'],
  [500, '<html>', 'HEAD_FAILED', 'the server: <html>'],
  [502, '', 'HEAD_FAILED', 'the server: answered with HTTP status 502'],
])('status %i with %s is %s', (status, text, code, message) => {
  expect(errorFromAnswer(status, text, 'the server')).toMatchObject({code, message, details: {status}})
})

test("the head's own fields come along as details", () => {
  const error = errorFromAnswer(
    409,
    '{"error":{"code":"LOCKED","message":"taken","holder":"me","since":5}}',
    'the head',
  )
  expect(error.details).toMatchObject({holder: 'me', since: 5, status: 409})
})

test('a connection that cannot be made is NODE_UNREACHABLE and may pass; an answer that does not come is TIMED_OUT and may not be asked for again', () => {
  const refused = errorFromTransport(Object.assign(new Error('x'), {code: 'ECONNREFUSED'}), 'the server', undefined)
  const late = errorFromTransport(
    Object.assign(new Error('x'), {code: 'UND_ERR_HEADERS_TIMEOUT'}),
    'the server',
    undefined,
  )
  expect([refused.code, isPassing(refused), late.code, isPassing(late)]).toEqual([
    'NODE_UNREACHABLE',
    true,
    'TIMED_OUT',
    false,
  ])
})

test('after Ctrl-C it is INTERRUPTED, whatever the transport says', () => {
  expect(errorFromTransport(new Error('x'), 'the server', AbortSignal.abort()).code).toBe('INTERRUPTED')
})
