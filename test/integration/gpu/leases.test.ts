import {connect} from 'node:net'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {isCliError} from '../../../src/lib/base/index.ts'
import {findRoute} from '../../../src/lib/gpu/reach.ts'
import {releaseLeases, takeLeases, type TakenLease, type TakeInput} from '../../../src/lib/gpu/take.ts'
import {openHost} from '../../../src/lib/host/index.ts'
import {probeNodes} from '../../../src/lib/nodes/index.ts'
import type {Fleet} from '../../../src/lib/ssh/index.ts'
import {startGpuRack, type GpuRack} from '../../support/gpu-rack.ts'

let rack: GpuRack
let fleet: Fleet

beforeAll(async () => {
  rack = await startGpuRack({nodes: 2, devices: 2})
  fleet = rack.rack.fleet()
})
afterAll(() => rack?.stop())
afterEach(() => rack?.untilFree())

const place = () => ({rack: rack.rack.rack, fleet})
const take = (parts: Partial<TakeInput> = {}): Promise<TakenLease[]> =>
  takeLeases(
    place(),
    {nodes: rack.rack.rack.nodes, request: {count: 1, cap: false}, owner: 'ana@laptop', purpose: 'a test', ...parts},
    rack.rack.context(),
  )
const release = (leases: TakenLease[]): Promise<void> => releaseLeases(place(), leases, rack.rack.context())

describe('leases', () => {
  test('are the whole request or nothing, however many ask at once', async () => {
    const requested = await Promise.allSettled(Array.from({length: 4}, () => take({request: {count: 3, cap: false}})))
    const taken = requested.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(taken.length).toBeLessThanOrEqual(1)
    for (const one of requested)
      if (one.status === 'rejected') expect(isCliError(one.reason, 'GPU_UNAVAILABLE'), String(one.reason)).toBe(true)
    const {leases} = await rack.read()
    expect(leases.flatMap((one) => one.devices)).toHaveLength(taken.length * 3)
    await release(taken.flat())
  })

  test('say who has what, and a fraction is exact', async () => {
    const [lease] = await take({request: {count: 1, fraction: 0.25, cap: true}})
    const {devices, leases} = await rack.read()
    const device = devices.find((one) => one.holders.length > 0)
    expect(device).toMatchObject({
      whole: false,
      holders: [
        {
          lease: lease!.lease,
          owner: 'ana@laptop',
          purpose: 'a test',
          memory: Math.floor(device!.memory / 4),
          compute: 0.25,
          whole: false,
        },
      ],
    })
    expect(device!.free).toEqual({memory: device!.memory - Math.floor(device!.memory / 4), compute: 0.75})
    expect(leases).toMatchObject([{state: 'granted', devices: [{cap: true, compute: 0.25}]}])
    expect(JSON.stringify(leases)).not.toContain(lease!.key.reveal())
    const probed = await probeNodes(rack.rack.rack.nodes, fleet, rack.rack.context())
    const shares = probed.find((one) => one.node === device!.node)?.value?.facts.gpu_daemon
    expect(shares?.state).toBe('running')
    expect(shares?.devices[device!.index]).toEqual({
      index: device!.index,
      api: 'opencl',
      id: device!.id,
      name: device!.name,
      memory: device!.memory,
      free: device!.free,
      whole: false,
    })
    await release([lease!])
  })

  test('wait for what others have, and no longer than they are allowed to', async () => {
    const all = await take({request: {count: 4, cap: false}})
    const error: unknown = await take({wait: 0.5}).catch((reason: unknown) => reason)
    expect(isCliError(error, 'TIMED_OUT')).toBe(true)
    const waiting = take({wait: 60})
    await release(all)
    await release(await waiting)
  })

  test('stop waiting on Ctrl-C and leave nothing taken', async () => {
    const all = await take({request: {count: 4, cap: false}})
    const stop = new AbortController()
    const waiting = takeLeases(
      place(),
      {nodes: rack.rack.rack.nodes, request: {count: 1, cap: false}, owner: 'b', purpose: '', wait: 60},
      rack.rack.context({signal: stop.signal}),
    )
    setTimeout(() => stop.abort(), 300)
    expect(isCliError(await waiting.catch((reason: unknown) => reason), 'INTERRUPTED')).toBe(true)
    await release(all)
  })
})

describe('the way to a daemon', () => {
  test('is its socket on the same machine, and a tunnel where nothing else leads there', async () => {
    const [lease] = await take()
    const near = await findRoute(place(), lease!, {}, rack.rack.context())
    expect(near).toMatchObject({way: 'shared-memory', unix: lease!.server.unix, port: lease!.server.port})
    expect(await findRoute(place(), lease!, {transport: 'tls'}, rack.rack.context())).toMatchObject({
      way: 'address',
      address: '127.0.0.1',
      port: lease!.server.port,
    })
    // As if it were another machine: its loopback is not ours.
    const away = {...lease!, server: {...lease!.server, boot_id: 'another'}}
    const far = await findRoute(place(), away, {}, rack.rack.context())
    expect(far).toMatchObject({way: 'tunnel', address: '127.0.0.1', unix: ''})
    expect(far.port).not.toBe(lease!.server.port)
    expect(await answers(far.port)).toBe(true)
    await far.close()
    expect(await answers(far.port)).toBe(false)
    const other = await openHost(fleet, rack.rack.rack.nodes[1]!, rack.rack.context())
    expect(await findRoute(place(), lease!, {from: other}, rack.rack.context())).toMatchObject({
      way: 'shared-memory',
      unix: lease!.server.unix,
    })
    const between = await findRoute(place(), away, {from: other}, rack.rack.context())
    expect(between.way).toBe('tunnel')
    expect(await answers(between.port)).toBe(true)
    await between.close()
    await release([lease!])
  })
})

test('a daemon that cannot work is told with the reason, before it is started again and again', async () => {
  const {nodes} = rack.rack.rack
  const broken = {...rack.rack.rack, gpu: {env: {OCL_ICD_VENDORS: '/nowhere'}}}
  const {openGpus} = await import('../../../src/lib/gpu/index.ts')
  const error: unknown = await openGpus({rack: broken, fleet}, rack.rack.context())
    .serve([nodes[1]!], {backend: 'opencl'})
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({code: 'GPU_FAILED', message: expect.stringContaining('no OpenCL device')})
})

/** Whether something takes a connection there and does not close it at once. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket
      .once('error', () => end(false))
      .once('close', () => end(false))
      .once('connect', () => setTimeout(() => end(true), 200))
  })
}
