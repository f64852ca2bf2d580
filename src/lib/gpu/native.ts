import {createHash} from 'node:crypto'
import {createReadStream, existsSync} from 'node:fs'
import {open} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {CliError} from '../base/index.ts'

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

export type Product = 'flexrack-gpud' | 'flexrack-lease-keeper' | 'flexrack-bench' | 'libflexrack-opencl.so' | 'libflexrack-cuda.so' | 'libflexrack-nvml.so' | 'libflexrack-sim.so' | 'flexrack-ptx-passthrough'

/** Machines by the number in an ELF header (elf(5), e_machine). */
const MACHINES: Readonly<Record<number, string>> = {62: 'x86_64', 183: 'aarch64'}

/** Where a product of `npm run build:native` is; FLEXRACK_NATIVE names another folder. Throws NATIVE_MISSING. */
export function nativePath(product: Product, env: NodeJS.ProcessEnv): string {
  const file = env.FLEXRACK_NATIVE ? join(env.FLEXRACK_NATIVE, product) : lookUpwards(import.meta.dirname, join('native', 'build', 'release', product))
  if (file !== undefined && existsSync(file)) return file
  throw new CliError('NATIVE_MISSING', `${product} is not built${env.FLEXRACK_NATIVE ? `: it is not in FLEXRACK_NATIVE, ${env.FLEXRACK_NATIVE}` : ''}`, {hint: 'npm run build:native'})
}

/** The same with its hash, to be sent to a node. */
export async function loadNative(product: Product, env: NodeJS.ProcessEnv): Promise<NativeFile> {
  const file = nativePath(product, env)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  const sha256 = hash.digest('hex')
  const [stem, end = ''] = product.split(/(?=\.so$)/)
  return {name: `${stem}-${sha256.slice(0, 16)}${end}`, file, sha256, machine: await machineOf(file), executable: end === ''}
}

/** Throws NATIVE_MISSING where a node is of another kind than the programs here. */
export function checkMachine(program: NativeFile, node: string, there: {system: string; machine: string}): void {
  if (there.system !== 'linux') throw new CliError('NODE_UNFIT', `${node} runs ${there.system}; the GPU daemon needs Linux`, {details: {node}})
  if (program.machine === undefined || program.machine === there.machine) return
  throw new CliError('NATIVE_MISSING', `the native layer here is built for ${program.machine}, and ${node} is ${there.machine}`, {
    hint: `run npm run build:native on a machine that is ${there.machine}, and set FLEXRACK_NATIVE to a folder with what it built`,
    details: {node},
  })
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
