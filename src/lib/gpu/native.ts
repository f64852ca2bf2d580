import {existsSync} from 'node:fs'
import {open} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {CliError, hashFile, machineHere} from '../base/index.ts'

/** A file of the native layer: its name on a node has its content's hash. */
export interface NativeFile {
  name: string
  /** Here, absolute. */
  file: string
  sha256: string
  /** As `uname -m` has it; undefined where it is no program for Linux that we know. */
  machine: string | undefined
  executable: boolean
}

export type Product =
  | 'flexrack-gpud'
  | 'flexrack-lease-keeper'
  | 'flexrack-bench'
  | 'libflexrack-opencl.so'
  | 'libflexrack-cuda.so'
  | 'libflexrack-nvml.so'
  | 'libflexrack-nccl.so'
  | 'libflexrack-sim.so'
  | 'libflexrack-sim-nvml.so'
  | 'flexrack-ptx-passthrough'

/** Machines by the number in an ELF header (elf(5), e_machine). */
const MACHINES: Readonly<Record<number, string>> = {62: 'x86_64', 183: 'aarch64'}

/** Where a product for this machine is. Throws NATIVE_MISSING. */
export function nativePath(product: Product, env: NodeJS.ProcessEnv): string {
  const [file] = candidates(product, env, machineHere() ?? process.arch)
  if (file !== undefined) return file
  throw new CliError(
    'NATIVE_MISSING',
    `${product} is not built${env.FLEXRACK_NATIVE ? `: it is not in FLEXRACK_NATIVE, ${env.FLEXRACK_NATIVE}` : ''}`,
    {hint: 'npm run build:native'},
  )
}

/**
 * The same for each kind of machine that there is one for, with its hash, to be sent to a node. Throws NATIVE_MISSING
 * where there is none.
 */
export async function loadNative(product: Product, env: NodeJS.ProcessEnv): Promise<NativeFile[]> {
  // What comes first is what a program here would take.
  const machines = new Set([machineHere() ?? process.arch, ...Object.values(MACHINES)])
  const files = new Set([...machines].flatMap((machine) => candidates(product, env, machine)))
  if (files.size === 0) nativePath(product, env)
  const found = await Promise.all([...files].map((file) => readNative(product, file)))
  return found.filter(({machine}, at) => found.findIndex((one) => one.machine === machine) === at)
}

/** Those that a node can run, one of each product. Throws NATIVE_MISSING where there is none. */
export function forNode(
  products: readonly NativeFile[][],
  node: string,
  there: {system: string; machine: string},
): NativeFile[] {
  if (there.system !== 'linux')
    throw new CliError('NODE_UNFIT', `${node} runs ${there.system}; the GPU daemon needs Linux`, {details: {node}})
  return products.map((files) => {
    const fit = files.find(({machine}) => machine === undefined || machine === there.machine)
    if (fit) return fit
    throw new CliError(
      'NATIVE_MISSING',
      `the native layer here is built for ${files.map(({machine}) => machine).join(' and ')}, and ${node} is ${there.machine}`,
      {
        hint: Object.values(MACHINES).includes(there.machine)
          ? `npm run build:portable -- ${there.machine}`
          : `run npm run build:native on a machine that is ${there.machine}, and set FLEXRACK_NATIVE to a folder with what it built`,
        details: {node},
      },
    )
  })
}

/**
 * Files of a product for a kind of machine, the first before the others: what was built here is for this machine, and
 * goes before what the package brings for each. FLEXRACK_NATIVE names another folder and nothing else.
 */
function candidates(product: Product, env: NodeJS.ProcessEnv, machine: string): string[] {
  if (env.FLEXRACK_NATIVE) return [join(env.FLEXRACK_NATIVE, product)].filter((file) => existsSync(file))
  const folders = [...(machine === machineHere() ? ['build/release'] : []), `prebuilt/linux-${machine}`]
  return folders.flatMap((folder) => lookUpwards(import.meta.dirname, join('native', folder, product)) ?? [])
}

async function readNative(product: Product, file: string): Promise<NativeFile> {
  const sha256 = await hashFile(file)
  const [stem, end = ''] = product.split(/(?=\.so$)/)
  return {
    name: `${stem}-${sha256.slice(0, 16)}${end}`,
    file,
    sha256,
    machine: await machineOf(file),
    executable: end === '',
  }
}

async function machineOf(file: string): Promise<string | undefined> {
  const handle = await open(file)
  try {
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(20), 0, 20, 0)
    return bytesRead === 20 && buffer.readUInt32BE(0) === 0x7f454c46 ? MACHINES[buffer.readUInt16LE(18)] : undefined
  } finally {
    await handle.close()
  }
}

/** At the same place for src, dist and an installed package. */
function lookUpwards(from: string, path: string): string | undefined {
  const file = join(from, path)
  if (existsSync(file)) return file
  const parent = dirname(from)
  return parent === from ? undefined : lookUpwards(parent, path)
}
