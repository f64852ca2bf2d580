import type {Api} from '../protocol/index.ts'
import type {Product} from './native.ts'

/**
 * Our drivers for each API: the libraries that a program is given, and what stands for ptxas where the GPU is one in
 * software.
 */
export const DRIVERS: Readonly<Record<Api, readonly Product[]>> = {
  opencl: ['libflexrack-opencl.so'],
  cuda: ['libflexrack-cuda.so', 'libflexrack-nvml.so', 'libflexrack-nccl.so', 'flexrack-ptx-passthrough'],
}

/**
 * By which names programs look for CUDA's libraries. Those without a version are for linkers, and for programs that ask
 * a linker where the library is.
 */
const LINKS: readonly (readonly [link: string, product: Product])[] = [
  ['libcuda.so.1', 'libflexrack-cuda.so'],
  ['libcuda.so', 'libflexrack-cuda.so'],
  ['libnvidia-ml.so.1', 'libflexrack-nvml.so'],
  ['libnvidia-ml.so', 'libflexrack-nvml.so'],
  // By no name that anybody looks for: it is preloaded where all servers carry collectives.
  ['libflexrack-nccl.so', 'libflexrack-nccl.so'],
]

/**
 * How a program finds our drivers and no others: OpenCL's by a file that has the path of one, CUDA's by their names in
 * a folder that is searched before all others.
 */
export interface DriverLinks {
  icd: string | null
  /** Name to the file that it is a link to. */
  libraries: Record<string, string>
}

/** What gives PTX on as it is, beside the libraries. */
export const PASSTHROUGH = 'flexrack-ptx-passthrough'
/** NCCL's names, beside the libraries. */
export const COLLECTIVES = 'libflexrack-nccl.so'
/** What the driver in software calls its devices. */
const SIMULATED = 'Flexrack Simulated GPU'

/** Every device is one in software: it takes PTX, and no machine code. */
export function isSoftware(servers: readonly {devices: readonly {name: string}[]}[]): boolean {
  const devices = servers.flatMap((server) => server.devices)
  return devices.length > 0 && devices.every((device) => device.name.startsWith(SIMULATED))
}

/** `fileOf`: what a product is called where the program runs. `software`: the devices are. Pure. */
export function driverLinks(api: Api, fileOf: (product: Product) => string, software = false): DriverLinks {
  if (api === 'opencl') return {icd: fileOf('libflexrack-opencl.so'), libraries: {}}
  const links = software ? [...LINKS, [PASSTHROUGH, PASSTHROUGH] as const] : LINKS
  return {icd: null, libraries: Object.fromEntries(links.map(([link, product]) => [link, fileOf(product)]))}
}
