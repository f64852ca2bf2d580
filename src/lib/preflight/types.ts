import type {Host} from '../host/index.ts'
import type {LinkFact, NodeState, WayAnswer} from '../protocol/index.ts'
import type {CheckName} from './checks.ts'

/** A node as the run would use it. */
export interface PreflightNode {
  host: Host
  /** Its own address on the way to the others; undefined for a node alone. */
  address?: string
}

export interface NodeMeasured {
  node: string
  address?: string
  /** Why nothing, or not everything, is known of it. */
  error?: string
  /** Equal for nodes that share one machine and its network. */
  machine?: string
  interface?: LinkFact
  /** Why it cannot listen at its address. */
  closed?: string
  /** Seconds by which its clock is ahead of ours, and how sure that is. */
  clock?: {ahead: number; within: number}
  state?: NodeState
}

/** What became of connecting from one node to another. */
export interface Way extends WayAnswer {
  from: string
  to: string
  /** At the port of the run's rendezvous, not at one of those for outgoing connections. */
  rendezvous?: true
}

/** What one TCP stream carried from one node to another. */
export interface Rate {
  from: string
  to: string
  /** Bit/s; undefined where it failed. */
  rate?: number
  text?: string
}

export interface Measured {
  nodes: NodeMeasured[]
  ways: Way[]
  rates: Rate[]
  /**
   * Pairs of nodes on different machines that reach each other, and how many of them there was time to measure the
   * bandwidth of.
   */
  pairs: {possible: number; measured: number}
  times: PreflightTimes
}

/** Milliseconds. */
export interface PreflightTimes {
  /** Until every node listens. */
  open: number
  reach: number
  bandwidth: number
  /** Waiting for what the nodes measured by themselves meanwhile. */
  facts: number
  total: number
}

/** One thing that would stop a run (error), or may harm it (warning). */
export interface PreflightFinding {
  severity: 'error' | 'warning'
  check: CheckName
  /** The node that it is about; absent: several, named in the message. */
  node?: string
  /** The pair that it is about. */
  pair?: [string, string]
  message: string
  /** A command to paste, or what to change. */
  fix?: string
}

/** What a preflight found. */
export interface PreflightResult {
  /** True without errors. */
  ok: boolean
  nodes: string[]
  checks: CheckName[]
  skipped: CheckName[]
  findings: PreflightFinding[]
  ways: Way[]
  rates: Rate[]
  pairs: {possible: number; measured: number}
  times: PreflightTimes
}
