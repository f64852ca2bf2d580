/** Machines that can be built for. */
export interface Machine {
  /** As `uname -m` has it. */
  name: 'x86_64' | 'aarch64'
  /** As Debian has it. */
  debian: string
  /** The oldest C library that the binaries run with. */
  target: string
  loader: string
}

/** Of RHEL 8; Ubuntu 20.04 and Debian 11 have a newer one. */
export const OLDEST_GLIBC = '2.28'

export const MACHINES: readonly Machine[] = [
  {name: 'x86_64', debian: 'amd64', target: `x86_64-linux-gnu.${OLDEST_GLIBC}`, loader: 'ld-linux-x86-64.so.2'},
  {name: 'aarch64', debian: 'arm64', target: `aarch64-linux-gnu.${OLDEST_GLIBC}`, loader: 'ld-linux-aarch64.so.1'},
]

/** Those that the package has binaries for. */
export const PACKAGED = MACHINES

/** As the kernel calls this machine. */
export const HERE = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

/** Throws an Error for another one than x86_64 and aarch64. */
export function machineOf(name: string): Machine {
  const machine = MACHINES.find((one) => one.name === name)
  if (!machine)
    throw new Error(
      `${name} is no machine that can be built for; there are ${MACHINES.map((one) => one.name).join(', ')}`,
    )
  return machine
}
