import {CliError} from '../base/index.ts'
import type {HeadNode} from '../protocol/index.ts'

/** Oldest Node that runs the head: [major, minor]. */
export const OLDEST_NODE: [number, number] = [22, 22]

export interface OwnMachine {
  platform: string
  arch: string
  isGlibc: boolean
}

const ARCH_OF: Record<string, string> = {x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64'}

/** True if a copy of this machine's Node runs there; NODE_UNFIT where neither that nor a Node of its own will do. */
export function needsOwnNode(name: string, there: HeadNode, here: OwnMachine): boolean {
  if (there.node) return false
  const isSame =
    there.system === here.platform && ARCH_OF[there.machine] === here.arch && (there.libc === 'glibc') === here.isGlibc
  if (isSame) return true
  throw new CliError(
    'NODE_UNFIT',
    `${name} has no Node.js ${OLDEST_NODE.join('.')} or newer, and this machine's (${here.platform} ${here.arch}) does not run on ${there.system} ${there.machine}`,
    {
      hint: `install Node.js ${OLDEST_NODE[0]} on ${name}, or choose another node with head.node in the rack file`,
      details: {node: name},
    },
  )
}

export function ownMachine(): OwnMachine {
  const report = process.report?.getReport() as {header?: {glibcVersionRuntime?: string}} | undefined
  return {platform: process.platform, arch: process.arch, isGlibc: report?.header?.glibcVersionRuntime !== undefined}
}
