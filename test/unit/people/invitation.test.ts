import {expect, test} from 'vitest'
import {invitationOf, readInvitation} from '../../../src/lib/people/index.ts'

const HEAD = {address: '10.0.0.1', port: 5000, url: 'https://10.0.0.1:5000', ca: '-----BEGIN CERTIFICATE-----\n'}

test('an invitation is one word that says where the head is and what it is known by', () => {
  const word = invitationOf(HEAD)
  expect(word).toMatch(/^fr1\.[\w-]+$/)
  expect(readInvitation(word)).toEqual(HEAD)
})

test('what is no invitation, or only a part of one, is refused', () => {
  const incomplete = `fr1.${Buffer.from(JSON.stringify({...HEAD, port: 'x'})).toString('base64url')}`
  for (const text of ['', 'hello', 'fr1.', invitationOf(HEAD).slice(0, 20), incomplete])
    expect(() => readInvitation(text), text).toThrow('this is no invitation')
})
