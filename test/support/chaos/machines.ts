import {readdirSync, readFileSync, readlinkSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import type {TestNetRack} from '../net-rack.ts'

/**
 * The nodes of a net rack as machines that can be hit: their processes are those of their network namespace, from /proc
 * alone.
 */
export interface Machines {
  /** flexrack's folder on a node. */
  root(node: string): string
  /** Folder of a node's reservations. */
  reservations(node: string): string
  /** Live processes of a node; without its sshd and what sshd's sessions are made of. */
  processes(node: string): Pid[]
  /** Of sshd: the one that listens, or those of its sessions. */
  listener(node: string): number[]
  sessions(node: string): number[]
  /** The cable first, as when the power fails: nobody is told anything. */
  powerOff(node: string): Promise<void>
  /** The cable alone. */
  cut(node: string): void
  /** Boots: the link is up and sshd listens. Nothing where it is up. */
  powerOn(node: string): Promise<void>
}

export interface Pid {
  pid: number
  command: string
}

/** `reservations`: the folder that holds one folder a node, as the sessions' FLEXRACK_RESERVATIONS says. */
export function machinesOf(net: TestNetRack, reservations: string): Machines {
  const space = Object.fromEntries(
    Object.keys(net.addresses).map((node) => [node, net.inside(node, 'readlink', '/proc/self/ns/net').trim()]),
  )
  const all = (node: string): number[] => livePids().filter((pid) => linkOf(pid) === space[node])
  const isSshd = (pid: number): boolean => ['sshd', 'sshd-session', 'sshd-auth'].includes(textOf(pid, 'comm').trim())
  const isListener = (pid: number): boolean => isSshd(pid) && commandOf(pid).includes('[listener]')
  return {
    root: (node) => join(net.servers[node]?.home ?? '', node),
    reservations: (node) => join(reservations, node),
    processes: (node) =>
      all(node)
        .filter((pid) => !isSshd(pid))
        .map((pid) => ({pid, command: commandOf(pid)})),
    listener: (node) => all(node).filter(isListener),
    sessions: (node) => all(node).filter((pid) => isSshd(pid) && !isListener(pid)),
    async powerOff(node) {
      net.link(node, 'down')
      for (let left = all(node); left.length > 0; left = all(node)) {
        for (const pid of left) send(pid, 'SIGKILL')
        await pause(5)
      }
    },
    cut: (node) => net.link(node, 'down'),
    async powerOn(node) {
      net.link(node, 'up')
      if (all(node).every((pid) => !isListener(pid))) await net.servers[node]?.start()
    },
  }
}

/** Everything on this machine that carries a run's tag, whatever namespace it is in. */
export function taggedPids(run: string): Pid[] {
  return livePids()
    .filter((pid) =>
      textOf(pid, 'environ')
        .split('\0')
        .some((entry) => entry.startsWith(`FLEXRACK_TAG=${run}.`)),
    )
    .map((pid) => ({pid, command: commandOf(pid)}))
}

/** Live children of a process. */
export function childrenOf(parent: number): number[] {
  return livePids().filter((pid) => fieldsOf(pid)[1] === String(parent))
}

/** False where it is gone, or a zombie. */
export function isLive(pid: number): boolean {
  return !['Z', 'X', ''].includes(fieldsOf(pid)[0] ?? '')
}

/** False where there was nothing to send it to. */
export function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

function livePids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(isLive)
}

/** Of proc_pid_stat(5), from the state on. */
function fieldsOf(pid: number): string[] {
  const stat = textOf(pid, 'stat')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function commandOf(pid: number): string {
  return textOf(pid, 'cmdline').replaceAll('\0', ' ').trim()
}

function linkOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    return ''
  }
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
