import type {Api} from '../protocol/index.ts'
import type {Product} from './native.ts'

/** Our drivers for each API: the libraries that a program is given. */
export const DRIVERS: Readonly<Record<Api, readonly Product[]>> = {
  opencl: ['libflexrack-opencl.so'],
  cuda: ['libflexrack-cuda.so', 'libflexrack-nvml.so'],
}

/** By which names programs look for CUDA's libraries. Those without a version are for linkers, and for programs that ask a linker where the library is. */
const LINKS: readonly (readonly [link: string, product: Product])[] = [
  ['libcuda.so.1', 'libflexrack-cuda.so'],
  ['libcuda.so', 'libflexrack-cuda.so'],
  ['libnvidia-ml.so.1', 'libflexrack-nvml.so'],
  ['libnvidia-ml.so', 'libflexrack-nvml.so'],
]

/**
 * How a program finds our drivers and no others: OpenCL's by a file that has the path of one, CUDA's by their names in a folder
 * that is searched before all others.
 */
export interface DriverLinks {
  icd: string | null
  /** Name to the file that it is a link to. */
  libraries: Record<string, string>
}

/** `fileOf`: what a product is called where the program runs. Pure. */
export function driverLinks(api: Api, fileOf: (product: Product) => string): DriverLinks {
  if (api === 'opencl') return {icd: fileOf('libflexrack-opencl.so'), libraries: {}}
  return {icd: null, libraries: Object.fromEntries(LINKS.map(([link, product]) => [link, fileOf(product)]))}
}
