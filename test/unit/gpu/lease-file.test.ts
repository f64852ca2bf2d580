import {mkdir, mkdtemp, readFile, readdir, readlink, rm, stat, utimes, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {ownMark, Secret, type ProcessMark} from '../../../src/lib/base/index.ts'
import {driverLinks, isSoftware} from '../../../src/lib/gpu/drivers.ts'
import {leaseEnvironment, leaseFile, writeLeases} from '../../../src/lib/gpu/lease-file.ts'
import type {TakenLease} from '../../../src/lib/gpu/take.ts'

let home: string
beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), 'flexrack-leases-'))))
afterEach(() => rm(home, {recursive: true, force: true}))

const lease = (node: string, graceSeconds: number): TakenLease => ({
  node,
  lease: 'ab'.repeat(16),
  key: new Secret('cd'.repeat(32)),
  graceSeconds,
  server: {
    address: '0.0.0.0',
    port: 18999,
    unix: '/run/client.sock',
    boot_id: 'boot',
    transport: 'auto',
    api: 'opencl',
  },
  devices: [{id: '0:0', name: 'pthread', memory: 2 ** 30}],
})
const route = {port: 5, close: async () => {}, way: 'address'} as const

it('a lease file has a server for each lease, in order, the way to it, and the shortest grace', () => {
  const file = leaseFile(
    [lease('a', 30), lease('b', 10)],
    [
      {...route, address: '127.0.0.1', unix: '/run/client.sock'},
      {...route, address: '10.0.0.2', unix: ''},
    ],
    'tls',
  )
  expect(file.grace_seconds).toBe(10)
  expect(
    file.servers.map(({node, address, port, unix, transport}) => ({node, address, port, unix, transport})),
  ).toEqual([
    {node: 'a', address: '127.0.0.1', port: 5, unix: '/run/client.sock', transport: 'tls'},
    {node: 'b', address: '10.0.0.2', port: 5, unix: '', transport: 'tls'},
  ])
  expect(file.servers[0]).toMatchObject({
    lease: 'ab'.repeat(16),
    key: 'cd'.repeat(32),
    boot_id: 'boot',
    api: 'opencl',
    devices: [{name: 'pthread', memory: 2 ** 30}],
  })
})

it('keys are written for the owner only, in a folder of its own that goes away whole', async () => {
  const placed = await writeLeases(
    leaseFile([lease('a', 30)], [{...route, address: 'x', unix: ''}], undefined),
    {icd: '/opt/libflexrack-opencl.so', libraries: {}},
    {FLEXRACK_HOME: home},
  )
  expect((await stat(placed.file)).mode & 0o777).toBe(0o600)
  expect((await stat(join(placed.file, '..'))).mode & 0o777).toBe(0o700)
  const vendors = placed.vendors as string
  expect(await readFile(join(vendors, 'flexrack.icd'), 'utf8')).toBe('/opt/libflexrack-opencl.so\n')
  expect(await readdir(vendors)).toEqual(['flexrack.icd'])
  expect(leaseEnvironment(placed, 'tcp')).toEqual({
    OCL_ICD_VENDORS: vendors,
    OPENCL_VENDOR_PATH: vendors,
    FLEXRACK_LEASES: placed.file,
    FLEXRACK_TRANSPORT: 'tcp',
  })
  expect(placed.libraries).toBeNull()
  await placed.remove()
  expect(await readdir(join(home, 'state', 'attach'))).toEqual([])
})

it('of CUDA there is a folder of libraries by the names that programs look for, and nothing of OpenCL', async () => {
  const links = driverLinks('cuda', (product) => `/opt/${product}`)
  const placed = await writeLeases(
    leaseFile([lease('a', 30)], [{...route, address: 'x', unix: ''}], undefined),
    links,
    {FLEXRACK_HOME: home},
  )
  const libraries = placed.libraries as string
  expect((await stat(libraries)).mode & 0o777).toBe(0o700)
  const found = await Promise.all(
    (await readdir(libraries)).toSorted().map(async (name) => [name, await readlink(join(libraries, name))]),
  )
  expect(Object.fromEntries(found)).toEqual({
    'libcuda.so': '/opt/libflexrack-cuda.so',
    'libcuda.so.1': '/opt/libflexrack-cuda.so',
    'libflexrack-nccl.so': '/opt/libflexrack-nccl.so',
    'libnvidia-ml.so': '/opt/libflexrack-nvml.so',
    'libnvidia-ml.so.1': '/opt/libflexrack-nvml.so',
  })
  expect(placed.vendors).toBeNull()
  expect(leaseEnvironment(placed, undefined)).toEqual({FLEXRACK_LEASES: placed.file})
  // Where all servers carry collectives, in front of what is preloaded already.
  const preload = `${libraries}/libflexrack-nccl.so`
  expect(leaseEnvironment(placed, undefined, [], {collectives: true}).LD_PRELOAD).toBe(preload)
  expect(leaseEnvironment(placed, undefined, [], {collectives: true, preloaded: '/x.so'}).LD_PRELOAD).toBe(
    `${preload}:/x.so`,
  )
  await placed.remove()
  expect(await readdir(join(home, 'state', 'attach'))).toEqual([])
})

it('where all devices are in software, PTX stays PTX instead of going to ptxas; nowhere else', async () => {
  const of = (...names: string[]): TakenLease[] =>
    names.map((name) => ({...lease('a', 30), devices: [{id: '0:0', name, memory: 1}]}))
  const software = 'Flexrack Simulated GPU'
  for (const [leases, isSet] of [
    [of(software, `${software} (machine code is accepted, NOT computed)`), true],
    [of(software, 'NVIDIA H100'), false],
    [of('NVIDIA H100'), false],
  ] as const) {
    const content = leaseFile(
      leases,
      leases.map(() => ({...route, address: 'x', unix: ''})),
      undefined,
    )
    const placed = await writeLeases(
      content,
      driverLinks('cuda', (product) => `/opt/${product}`, isSoftware(content.servers)),
      {FLEXRACK_HOME: home},
    )
    const env = leaseEnvironment(placed, undefined, content.servers)
    const at = isSet ? join(placed.libraries as string, 'flexrack-ptx-passthrough') : undefined
    expect([env.TRITON_PTXAS_PATH, env.TRITON_PTXAS_BLACKWELL_PATH]).toEqual([at, at])
    if (at) expect(await readlink(at)).toBe('/opt/flexrack-ptx-passthrough')
    await placed.remove()
  }
})

const place = (): ReturnType<typeof writeLeases> =>
  writeLeases(
    leaseFile([lease('a', 30)], [{...route, address: 'x', unix: ''}], undefined),
    {icd: '/x.so', libraries: {}},
    {FLEXRACK_HOME: home},
  )
const folderOf = (name: string): string => join(home, 'state', 'attach', name)

/** As a command of that process has left it. */
async function leave(name: string, owner: ProcessMark): Promise<void> {
  await mkdir(folderOf(name), {recursive: true})
  await writeFile(join(folderOf(name), 'owner.json'), JSON.stringify(owner))
}

it('what a killed command of this machine has left is removed by the next one, also where another process has its number by now', async () => {
  const own = await ownMark()
  await leave('999999999-a', {...own, pid: 999_999_999})
  await leave(`${process.ppid}-b`, {...own, pid: process.ppid})
  await leave(`${process.pid}-c`, own)
  const placed = await place()
  expect((await readdir(join(home, 'state', 'attach'))).filter((name) => /-[a-z]$/.test(name))).toEqual([
    `${process.pid}-c`,
  ])
  await placed.remove()
})

it('what a command of another version has left: an older one says as we do whose it is, a newer one is not guessed at', async () => {
  const gone = {...(await ownMark()), pid: 999_999_999}
  await leave('999999999-a', gone)
  await leave('999999999-b', {...gone, schema: 99} as ProcessMark)
  const placed = await place()
  expect((await readdir(join(home, 'state', 'attach'))).filter((name) => /-[a-z]$/.test(name))).toEqual(['999999999-b'])
  expect(JSON.parse(await readFile(join(placed.file, '..', 'owner.json'), 'utf8'))).toMatchObject({
    ...(await ownMark()),
    schema: 1,
  })
  await placed.remove()
})

it('what commands of other machines with this home have is left alone until nobody has touched it for a day', async () => {
  const theirs = {pid: 999_999_999, identity: 'another-boot 12', place: 'another-boot pid:[1]'}
  await leave('999999999-a', theirs)
  await leave('999999999-b', theirs)
  // A container on this machine: the same start of the kernel, and other processes.
  await leave('999999999-c', {
    ...(await ownMark()),
    pid: 999_999_999,
    place: `${(await ownMark()).place.split(' ')[0]} pid:[1]`,
  })
  const old = new Date(Date.now() - 25 * 3600 * 1000)
  await utimes(join(folderOf('999999999-b'), 'owner.json'), old, old)
  const placed = await place()
  expect((await readdir(join(home, 'state', 'attach'))).filter((name) => /-[a-z]$/.test(name)).toSorted()).toEqual([
    '999999999-a',
    '999999999-c',
  ])
  await placed.remove()
})
