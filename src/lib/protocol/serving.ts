// Servers that a node starts and ends by itself, as the head wants: its agent, and what it asks the head. Generated from protocol/serving.json by `npm run protocol`.
import type {Nothing} from './node.ts'
import type {ComesBack} from './service.ts'

/** What a node's agent needs to ask the head; kept in its folder, 0600. */
export interface AgentSettings {
  /** Base URL of the head. */
  url: string
  /** The node's name in the rack file. */
  node: string
  /** Opens one path of the head's, for this node. */
  token: string
  /** Certificates to trust there and no others, PEM; null: those of the system. */
  ca: string | null
}

/** What the agent met last. */
export interface AgentNote {
  /** Seconds since 1970: when that began. */
  at: number
  /** Why the head was not asked; null: it was. */
  problem: string | null
  /** The head does not know its token. */
  refused: boolean
}

export interface AgentWanted {
  url: string
  node: string
}

export interface AgentFound {
  /** This program's agent runs here for that head and that node, and was not refused. */
  joined: boolean
  problem: string | null
}

export interface AgentJoined {
  comes_back: ComesBack
}

export interface AgentGone {
  stopped: boolean
}

export interface ServerReport {
  /** As ServiceState has it; stopped where it is not to run. */
  state: string
  restarts: number
  /** How it ended last. */
  exit: string | null
}

/** POST /flexrack/v1/agent: what prepared services do, and what is to run. */
export interface AgentQuestion {
  /** Mark of the last answer; another answer comes at once, the same one after `wait`. */
  seen: string | null
  /** Seconds. */
  wait: number
  services: Record<string, ServerReport>
  ca: string | null
  /** What model servers have leased of this node's daemon. Agents of older versions lack it. */
  gpus?: ServerGpuUse[]
}

/** A lease of one GPU, and its use. Sizes in bytes. */
export interface ServerGpuUse {
  /** Id of the server's service, on this node or another one. */
  service: string
  /** Of the GPU, on this node. */
  index: number
  /** Share of the last second in which the GPU computed, for whomever, 0 to 1. */
  busy: number
  /** Allocated by the server. */
  used: number
  /** That it may allocate. */
  memory: number
}

export interface PlaceOrder {
  service: string
  on: boolean
}

export interface AgentAnswer {
  seen: string
  /** Of this node. */
  places: PlaceOrder[]
  /** To be trusted from now on. */
  ca?: string
}

export interface ServingVerbs {
  /** Whether this node's agent asks that head. */
  'serving.find': {input: AgentWanted; result: AgentFound; event: never}
  /** Starts the node's agent, or has it go on with these settings. */
  'serving.join': {input: AgentSettings; result: AgentJoined; event: never}
  /** Ends the agent and forgets its token; servers stay as they are. */
  'serving.leave': {input: Nothing; result: AgentGone; event: never}
}
