/** By Node's word for a processor. */
const MACHINES: Readonly<Record<string, string>> = {x64: 'x86_64', arm64: 'aarch64'}

/** This machine's kind, as `uname -m` and the names of wheels have it: x86_64, aarch64. Undefined for another one. */
export function machineHere(): string | undefined {
  return MACHINES[process.arch]
}
