import {mkdir, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises'
import {randomBytes} from 'node:crypto'
import {join} from 'node:path'
import {userPaths} from '../base/index.ts'
import type {DriverLinks} from './drivers.ts'
import type {Route} from './reach.ts'
import type {TakenLease} from './take.ts'

/** What the driver and flexrack-hold read (native/client/lease_file.h). Holds keys: written 0600, never on a command line. */
export interface LeaseFile {
  version: 1
  grace_seconds: number
  servers: {
    node: string
    address: string
    port: number
    unix: string
    boot_id: string
    transport: string
    api: string
    lease: string
    key: string
    devices: {name: string; memory: number}[]
  }[]
}

/** Leases and the ways to them as one file; devices are seen in this order. Pure. */
export function leaseFile(leases: readonly TakenLease[], routes: readonly Route[], transport: string | undefined): LeaseFile {
  return {
    version: 1,
    grace_seconds: Math.min(...leases.map((one) => one.graceSeconds)),
    servers: leases.map(({node, lease, key, server, devices}, index) => {
      const {address, port, unix} = routes[index] as Route
      return {
        node, address, port, unix, boot_id: server.boot_id, transport: transport ?? server.transport, api: server.api, lease, key: key.reveal(),
        devices: devices.map(({name, memory}) => ({name, memory})),
      }
    }),
  }
}

/** A lease file where the command runs, and the folders by which it finds our drivers; null where the leases need none of that kind. */
export interface PlacedLeases {
  file: string
  /** Of OpenCL: it names our driver alone. */
  vendors: string | null
  /** Of CUDA: to be searched before all others. */
  libraries: string | null
}

/** Writes it into a folder of its own, 0700; what commands that were killed have left is removed on the way. */
export async function writeLeases(content: LeaseFile, drivers: DriverLinks, env: NodeJS.ProcessEnv): Promise<PlacedLeases & {remove(): Promise<void>}> {
  const parent = join(userPaths(env).state, 'attach')
  await mkdir(parent, {recursive: true, mode: 0o700})
  await sweep(parent)
  const folder = join(parent, `${process.pid}-${randomBytes(6).toString('hex')}`)
  const file = join(folder, 'leases.json')
  await mkdir(folder, {mode: 0o700})
  await writeFile(file, JSON.stringify(content), {mode: 0o600, flag: 'wx'})
  const vendors = drivers.icd === null ? null : join(folder, 'vendors')
  if (vendors) {
    await mkdir(vendors, {mode: 0o700})
    await writeFile(join(vendors, 'flexrack.icd'), `${drivers.icd}\n`)
  }
  const links = Object.entries(drivers.libraries)
  const libraries = links.length === 0 ? null : join(folder, 'libraries')
  if (libraries) {
    await mkdir(libraries, {mode: 0o700})
    await Promise.all(links.map(([link, target]) => symlink(target, join(libraries, link))))
  }
  return {file, vendors, libraries, remove: () => rm(folder, {recursive: true, force: true})}
}

/** Folders of processes that are gone. The name begins with the process id. */
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number.parseInt(name, 10)
    if (Number.isInteger(pid) && pid !== process.pid && !(await isFlexrack(pid))) await rm(join(parent, name), {recursive: true, force: true})
  }
}

/** A process of another kind may have got the number since. */
async function isFlexrack(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'attach')
  return command.includes('attach')
}

/**
 * What makes a program see the leased devices and no others, whatever loader of OpenCL it brings along. `libraries`, where there
 * are some, go in front of what LD_LIBRARY_PATH has where the program runs.
 */
export function leaseEnvironment({file, vendors}: PlacedLeases, transport: string | undefined): Record<string, string> {
  return {
    ...(vendors && {OCL_ICD_VENDORS: vendors, OPENCL_VENDOR_PATH: vendors}),
    FLEXRACK_LEASES: file,
    ...(transport && {FLEXRACK_TRANSPORT: transport}),
  }
}
