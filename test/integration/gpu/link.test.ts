import {networkInterfaces} from 'node:os'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {measureLink} from '../../../src/lib/gpu/link.ts'
import type {Route} from '../../../src/lib/gpu/reach.ts'
import type {Fleet} from '../../../src/lib/ssh/index.ts'
import {startLocalRack, type TestLocalRack} from '../../support/local-rack.ts'

let rack: TestLocalRack
let fleet: Fleet

beforeAll(async () => {
  rack = await startLocalRack({nodes: 1})
  fleet = rack.fleet()
})
afterAll(() => rack?.stop())

const route = (parts: Partial<Route>): Route => ({
  address: '127.0.0.1',
  port: 1,
  unix: '',
  way: 'address',
  close: async () => {},
  ...parts,
})
/** One at which this machine reaches itself like any other. */
const own = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({family, internal}) => family === 'IPv4' && !internal)?.address

test.each([
  ['loopback', {way: 'shared-memory'}],
  ['loopback', {}],
  ['address', {address: own}],
  ['tunnel', {way: 'tunnel'}],
] as const)('a link is measured by %s, and the other end goes: %j', async (way, parts) => {
  const bound = 'address' in parts ? (parts.address ?? '') : '127.0.0.1'
  expect(bound, 'this machine has no address but loopback').not.toBe('')
  const found = await measureLink(
    fleet,
    {node: rack.rack.nodes[0]!, route: route(parts as Partial<Route>), bound},
    rack.context(),
  )
  expect(found).toEqual({
    way,
    roundTripUs: expect.any(Number),
    toGBps: expect.any(Number),
    fromGBps: expect.any(Number),
  })
  for (const value of [found.roundTripUs, found.toGBps, found.fromGBps]) expect(value).toBeGreaterThan(0)
  expect(
    await (
      await fleet.shell('node-1')
    ).run(
      `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c "$HOME/[.]flexrack/gpu/program/flexrack-bench" || true`,
    ),
  ).toBe('0\n')
})

test('a link that nothing gets through is an error, and the other end goes', async () => {
  // One that nobody can have, and one that this machine has not (RFC 5737).
  await expect(
    measureLink(
      fleet,
      {node: rack.rack.nodes[0]!, route: route({address: '0.0.0.1'}), bound: '127.0.0.1'},
      rack.context(),
    ),
  ).rejects.toMatchObject({code: 'GPU_FAILED', message: expect.stringContaining('0.0.0.1')})
  await expect(
    measureLink(fleet, {node: rack.rack.nodes[0]!, route: route({}), bound: '192.0.2.1'}, rack.context()),
  ).rejects.toMatchObject({code: 'GPU_FAILED', message: expect.stringContaining('192.0.2.1')})
})
