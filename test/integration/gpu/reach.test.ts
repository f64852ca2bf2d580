import {execFile} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import {attachGpus} from '../../../src/lib/gpu/attach.ts'
import {openGpus} from '../../../src/lib/gpu/index.ts'
import {openHost} from '../../../src/lib/host/index.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../../src/lib/ssh/index.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../../support/net-rack.ts'

/** Nodes in network namespaces: one kernel, one file system, and a loopback for each, as containers have them. */
describe.skipIf(!mayMakeNetworks())('a daemon under the same kernel and in another network', () => {
  let net: TestNetRack
  let fleet: Fleet
  let folder: string
  let context: Context
  const noted: string[] = []
  const rackWith = (gpu: Rack['gpu']): Rack => ({...net.rack, gpu: {env: {POCL_DEVICES: 'pthread'}, ...gpu}})
  const gpus = (rack: Rack): ReturnType<typeof openGpus> => openGpus({rack, fleet}, context)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flexrack-reach-'))
    const {env} = process
    context = makeContext({env: {...env, FLEXRACK_HOME: folder}})
    context = {...context, reporter: {...context.reporter, note: (text) => void noted.push(text), warn: () => {}}}
    net = await startNetRack(2)
    fleet = openFleet(net.rack.nodes, context)
  }, 60_000)
  afterAll(async () => {
    if (fleet)
      await gpus(net.rack)
        .stop(net.rack.nodes, true)
        .catch(() => {})
    await fleet?.close()
    await net?.stop()
    await rm(folder, {recursive: true, force: true})
  })

  /** What `attach` would run here, run: its exit status, what it says, and the way it took. */
  const attach = async (
    rack: Rack,
    transport: string | undefined,
  ): Promise<{status: number; stderr: string; way: string; note: string}> => {
    const nodes = rack.nodes.slice(0, 1)
    noted.length = 0
    const attached = await attachGpus(
      {rack, fleet},
      {nodes, request: {count: 1, fraction: 0.25, cap: false}, words: ['true'], ...(transport && {transport})},
      context,
    )
    try {
      const [program, ...words] = [...attached.prefix, 'true']
      const done = await new Promise<{status: number; stderr: string}>((resolve) => {
        execFile(program as string, words, {env: {...process.env, ...attached.env}}, (error, _, stderr) =>
          resolve({status: Number(error?.code ?? 0), stderr}),
        )
      })
      return {...done, way: attached.leases[0]?.way as string, note: noted.join('\n')}
    } finally {
      await attached.release()
    }
  }

  test('is reached through SSH, for its loopback is not ours, or through its socket where that is not refused', async () => {
    const rack = rackWith({})
    await gpus(rack).serve(rack.nodes.slice(0, 1), {backend: 'opencl'})
    expect(await attach(rack, 'tls')).toEqual({
      status: 0,
      stderr: '',
      way: 'tunnel',
      note: expect.stringMatching(/: node-1 through SSH$/),
    })
    expect(await attach(rack, undefined)).toEqual({
      status: 0,
      stderr: '',
      way: 'shared-memory',
      note: expect.stringMatching(/: node-1 through shared memory$/),
    })
  })

  test('is reached at its address where it listens there', async () => {
    const address = net.addresses['node-1'] as string
    const rack = rackWith({bind: [address]})
    await gpus(rack).stop(rack.nodes.slice(0, 1), true)
    await gpus(rack).serve(rack.nodes.slice(0, 1), {backend: 'opencl'})
    expect(await attach(rack, 'tls')).toEqual({
      status: 0,
      stderr: '',
      way: 'address',
      note: expect.stringMatching(new RegExp(`: node-1 at ${address}:\\d+$`)),
    })
  })

  test('is told by a node from what else listens at the same address and port', async () => {
    const rack = rackWith({})
    const other = await openHost(fleet, rack.nodes[1]!, context)
    const question = {
      unix: '/nowhere',
      boot_id: '',
      loopback: null,
      addresses: [rack.nodes[0]!.host],
      port: rack.nodes[0]!.port!,
      lease: '0'.repeat(32),
    }
    // an SSH server: it takes connections
    expect(await other.call('gpu.reach', question)).toEqual({unix: false, address: null})
  })
})
