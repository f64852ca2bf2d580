import type {Socket} from 'node:net'
import {expect, test} from 'vitest'
import type {EndpointRecord} from '../../../../../src/lib/head/service/documents/endpoints.ts'
import {silenceOf} from '../../../../../src/lib/head/service/gateway/silence.ts'

/** What the server may take, and what the caller's connection, in seconds; undefined: as every connection. */
function allowed(document: object, deadlineSeconds?: number): [number, number | undefined] {
  let given: number | undefined
  const socket = {setTimeout: (ms: number) => (given = ms / 1000)} as unknown as Socket
  const deadline = deadlineSeconds === undefined ? undefined : performance.now() + deadlineSeconds * 1000
  const silence = silenceOf({document} as EndpointRecord, deadline, socket)
  return [silence / 1000, given]
}

test.each<[string, object, number | undefined, [number, number | undefined]]>([
  ['nobody says more', {}, undefined, [300, undefined]],
  ['a deadline is short', {}, 5, [0, undefined]],
  ['a deadline is long', {}, 1000, [0, 1080]],
  ['a deadline is longer than any timer', {}, 2 ** 31, [0, (2 ** 31 - 1) / 1000]],
  ['the endpoint may be silent for longer', {queue: {answer: 900}}, undefined, [900, 960]],
  ['requests may wait for longer', {queue: {seconds: 600}}, undefined, [300, 960]],
  ['servers take long to start', {active: {startSeconds: 100}}, undefined, [300, 540]],
])('the connection of a caller lives as long as its answer may take: %s', (_what, document, deadline, expected) => {
  expect(allowed(document, deadline)).toEqual(expected)
})
