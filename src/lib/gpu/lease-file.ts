import {mkdir, readdir, readFile, rm, stat, symlink, writeFile} from 'node:fs/promises'
import {randomBytes} from 'node:crypto'
import {join} from 'node:path'
import {current, ownMark, stamped, stateOfMark, userPaths, type ProcessMark} from '../base/index.ts'
import type {LeaseFile, LeaseFileServer} from '../protocol/index.ts'
import {COLLECTIVES, isSoftware, PASSTHROUGH, type DriverLinks} from './drivers.ts'
import type {Route} from './reach.ts'
import type {TakenLease} from './take.ts'
import type {Mirror} from './types.ts'

/** Leases and the ways to them as one file; devices are seen in this order. Pure. */
export function leaseFile(
  leases: readonly TakenLease[],
  routes: readonly Route[],
  transport: string | undefined,
  mirror?: Mirror,
): LeaseFile {
  return {
    version: 1,
    ...(mirror && {mirror: {on_mismatch: mirror.onMismatch}}),
    grace_seconds: Math.min(...leases.map((one) => one.graceSeconds)),
    servers: leases.map((lease, index) => leaseServer(lease, routes[index] as Route, transport)),
  }
}

/** One of them, as whoever takes this way to it dials it. */
export function leaseServer(
  {node, lease, key, server, devices}: TakenLease,
  {address, port, unix}: Pick<Route, 'address' | 'port' | 'unix'>,
  transport: string | undefined,
): LeaseFileServer {
  return {
    node,
    address,
    port,
    unix,
    boot_id: server.boot_id,
    transport: transport ?? server.transport,
    api: server.api,
    lease,
    key: key.reveal(),
    devices: devices.map(({name, memory}) => ({name, memory})),
  }
}

/**
 * A lease file where the command runs, and the folders by which it finds our drivers; null where the leases need none
 * of that kind.
 */
export interface PlacedLeases {
  file: string
  /** Of OpenCL: it names our driver alone. */
  vendors: string | null
  /** Of CUDA: to be searched before all others. */
  libraries: string | null
}

/** In each folder: whose it is, written anew while that lives. */
const OWNER = 'owner.json'
const TOUCH_MS = 600_000
/** Nobody has touched it for so long: its leases ended long ago, within seconds of their grace. */
const EXPIRED_MS = 24 * 3600 * 1000

/** Writes it into a folder of its own, 0700; what commands that were killed have left is removed on the way. */
export async function writeLeases(
  content: LeaseFile,
  drivers: DriverLinks,
  env: NodeJS.ProcessEnv,
): Promise<PlacedLeases & {remove(): Promise<void>}> {
  const parent = join(userPaths(env).state, 'attach')
  const folder = join(parent, `${process.pid}-${randomBytes(6).toString('hex')}`)
  const file = join(folder, 'leases.json')
  const mark = JSON.stringify(stamped('attach.owner', await ownMark()))
  const touch = (): Promise<void> => writeFile(join(folder, OWNER), mark, {mode: 0o600})
  await mkdir(parent, {recursive: true, mode: 0o700})
  await mkdir(folder, {mode: 0o700})
  await touch()
  await sweep(parent, folder)
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
  const touching = setInterval(() => void touch().catch(() => {}), TOUCH_MS).unref()
  return {file, vendors, libraries, remove: () => (clearInterval(touching), rm(folder, {recursive: true, force: true}))}
}

/**
 * Removes the folders of processes that are gone. Several machines may have this home: what is another one's, or says
 * nothing of whose it is, goes when it has expired, by the clock of the file system, which has dated our own folder
 * `own` just now.
 */
async function sweep(parent: string, own: string): Promise<void> {
  const now = await touchedAt(own)
  for (const name of await readdir(parent)) {
    const folder = join(parent, name)
    const file = join(folder, OWNER)
    const owner = await readFile(file, 'utf8')
      .then((text) => current<ProcessMark>('attach.owner', JSON.parse(text), file))
      .catch(() => undefined)
    const state = owner ? await stateOfMark(owner) : 'elsewhere'
    const at = state === 'elsewhere' ? await touchedAt(folder).catch(() => now) : now
    if (state === 'gone' || now - at > EXPIRED_MS) await rm(folder, {recursive: true, force: true})
  }
}

/** Milliseconds since the epoch. */
async function touchedAt(folder: string): Promise<number> {
  return (await stat(join(folder, OWNER)).catch(() => stat(folder))).mtimeMs
}

/**
 * What makes a program see the leased devices and no others, whatever loader of OpenCL it brings along. `libraries`,
 * where there are some, go in front of what LD_LIBRARY_PATH has where the program runs. Where all devices are in
 * software, Triton is told what to have instead of ptxas: it has one variable for the newest cards and one for the
 * others. Where all servers carry `collectives`, NCCL's names are ours before whatever library of NCCL is loaded.
 */
export function leaseEnvironment(
  {file, vendors, libraries}: PlacedLeases,
  transport: string | undefined,
  servers: LeaseFile['servers'] = [],
  {collectives = false, preloaded}: {collectives?: boolean; preloaded?: string | undefined} = {},
): Record<string, string> {
  const passthrough = libraries !== null && isSoftware(servers) ? join(libraries, PASSTHROUGH) : undefined
  return {
    ...(vendors && {OCL_ICD_VENDORS: vendors, OPENCL_VENDOR_PATH: vendors}),
    ...(passthrough !== undefined && {TRITON_PTXAS_PATH: passthrough, TRITON_PTXAS_BLACKWELL_PATH: passthrough}),
    ...(collectives &&
      libraries !== null && {LD_PRELOAD: [join(libraries, COLLECTIVES), ...(preloaded ? [preloaded] : [])].join(':')}),
    FLEXRACK_LEASES: file,
    ...(transport && {FLEXRACK_TRANSPORT: transport}),
  }
}
