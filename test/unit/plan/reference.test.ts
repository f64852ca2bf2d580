import {expect, test} from 'vitest'
import {Secret} from '../../../src/lib/base/index.ts'
import {fill, fromEnv, fromStep} from '../../../src/lib/plan/index.ts'

const admin = {url: 'https://head', token: new Secret('admin.token')}
const outputs: Record<string, unknown> = {reach: admin, plain: {port: 7, token: new Secret('lease')}}
const filled = (template: unknown, more: Record<string, unknown> = {}, env: Record<string, unknown> = {}) =>
  fill(
    template,
    ({$output, at = []}) =>
      at.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], {...outputs, ...more}[$output]),
    env,
  )

test('a reference becomes what it means, and a secret in it is revealed', () => {
  expect(filled({a: fromStep('plain', 'port'), b: [fromStep('plain')], c: fromEnv('user')}, {}, {user: 'me'})).toEqual({
    a: 7,
    b: [{port: 7, token: 'lease'}],
    c: 'me',
  })
})

test.each([
  ['the admin token', {address: {$output: 'reach'}}],
  ['a part of another answer', {address: {deep: [{$output: 'reach', at: ['token']}]}}],
  ['a secret of the environment', {address: {$env: 'secret'}}],
])('what a node has answered is data: it does not refer to %s', (_what, route) => {
  const spec = filled({address: fromStep('route', 'address')}, {route}, {secret: 'of the gang'})
  expect(spec).toEqual({address: route.address})
})

test('nor does what the environment brings along', () => {
  const variables = {NAME: {$output: 'reach'}}
  expect(filled(fromEnv('variables'), {}, {variables})).toEqual(variables)
})
