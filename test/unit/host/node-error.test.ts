import {expect, test} from 'vitest'
import {forwardText} from '../../../src/cli/workspace/text.ts'
import {toCliError} from '../../../src/lib/host/node-error.ts'

test('the node is always named, also where its name is a part of some word of the message', () => {
  expect(toCliError('a', {code: 'NODE_UNFIT', message: 'the disk is full', details: {free: 7}})).toMatchObject({
    code: 'NODE_UNFIT',
    message: 'a: the disk is full',
    details: {node: 'a', free: 7},
  })
  expect(toCliError('disk', {message: 'the disk is full'}).message).toBe('disk: the disk is full')
  expect(toCliError('a', null)).toMatchObject({code: 'REMOTE_FAILED', message: 'a: failed without a message'})
})

test('details have the node that was asked, whatever the program says of another one', () => {
  expect(toCliError('a', {message: 'b is lost', details: {node: 'b'}}).details).toEqual({node: 'a'})
})

test('a lost connection is told with its node', () => {
  expect(forwardText({event: 'retry', node: 'a', seconds: 4, reason: 'no route to the host'})).toBe(
    'a is not connected again: no route to the host; next attempt in 4 s',
  )
})
