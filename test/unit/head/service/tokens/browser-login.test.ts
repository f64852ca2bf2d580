import {expect, test} from 'vitest'
import {requireForward} from '../../../../../src/lib/head/service/tokens/browser-login.ts'

test("a login link is taken from the head's own machine only, where forwards end", () => {
  for (const [remoteAddress, localAddress] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
    ['10.0.0.5', '::ffff:10.0.0.5'],
    ['2001:db8::5', '2001:db8::5'],
  ] as const)
    expect(() => requireForward({remoteAddress, localAddress}), remoteAddress).not.toThrow()
  for (const [remoteAddress, localAddress] of [
    ['10.0.0.6', '10.0.0.5'],
    ['::ffff:10.0.0.6', '10.0.0.5'],
    ['2001:db8::6', '2001:db8::5'],
    [undefined, '10.0.0.5'],
  ] as const)
    expect(() => requireForward({remoteAddress, localAddress}), remoteAddress).toThrow('through its forward')
})
