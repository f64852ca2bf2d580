import {expect, test} from 'vitest'
import type {Endpoint} from '../../../src/lib/ssh/config.ts'
import {connectionError} from '../../../src/lib/ssh/connect-error.ts'

const endpoint = (until?: string) =>
  ({
    label: 'spot-1',
    host: '10.0.0.7',
    port: 22,
    user: 'ada',
    identityFiles: [],
    wayOut: 'flexrack rack remove lab spot-1',
    ...(until && {until}),
  }) as unknown as Endpoint

test('a node whose time is over has gone, one whose time is to come failed', () => {
  const gone = connectionError(endpoint('2020-01-01T00:00:00Z'), {code: 'ETIMEDOUT'})
  expect(gone).toMatchObject({
    code: 'NODE_UNREACHABLE',
    message: 'spot-1 has gone: it was to be there until 2020-01-01T00:00:00Z: 10.0.0.7:22 does not answer',
    hint: 'flexrack rack remove lab spot-1',
    details: {gone: true},
  })
  for (const until of [undefined, '2999-01-01T00:00:00Z']) {
    const failed = connectionError(endpoint(until), {code: 'ETIMEDOUT'})
    expect(failed.message).toBe('no connection to spot-1: 10.0.0.7:22 does not answer')
    expect(failed.details).not.toHaveProperty('gone')
  }
})
