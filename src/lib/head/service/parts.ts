import type {ServiceConfig} from '../types.ts'
import type {Audit} from './audit/audit.ts'
import type {Claims} from './claims/claims.ts'
import type {Quotas} from './claims/quotas.ts'
import type {Holdings} from './holdings/holdings.ts'
import type {Clients} from './tokens/clients.ts'
import type {Endpoints} from './documents/endpoints.ts'
import type {Incoming} from './limits/incoming.ts'
import type {Promises} from './joint/promises.ts'
import type {Limits} from './limits/limits.ts'
import type {Locks} from './documents/locks.ts'
import type {MlflowServer} from './tracking/mlflow.ts'
import type {PendingConnections} from './limits/pending-connections.ts'
import type {Measures} from './releases/measures.ts'
import type {Shadows} from './releases/shadow.ts'
import type {Ui} from './page/ui.ts'
import type {People} from './people/people.ts'
import type {Queues} from './queue/queues.ts'
import type {TargetHealth} from './queue/target-health.ts'
import type {Rollouts} from './releases/rollouts.ts'
import type {Samples} from './sampling/samples.ts'
import type {Scaler} from './scaling/scaler.ts'
import type {Followers} from './standby/followers.ts'
import type {Following} from './standby/following.ts'
import type {Superseded} from './standby/superseded.ts'
import type {Issuer} from './tls/issuer.ts'
import type {Caller} from './tokens/token-kinds.ts'
import type {Tokens} from './tokens/tokens.ts'
import type {Traffic} from './gateway/traffic.ts'

/** What the parts of the head share. */
export interface Parts {
  config: ServiceConfig
  tokens: Tokens
  /** Users, teams, and projects with roles; empty where the rack is one person's. */
  people: People
  /** Callers of endpoints, by their keys. */
  clients: Clients
  locks: Locks
  /** How much users, teams and projects may have. */
  quotas: Quotas
  /** What people have beside runs: notebooks, endpoints, data. */
  holdings: Holdings
  /** What runs have and wait for. */
  claims: Claims
  /** Who changed what, and who was refused. */
  audit: Audit
  endpoints: Endpoints
  /** What of its endpoints is promised to switches over several racks. */
  promises: Promises
  traffic: Traffic
  /** Requests that wait for a target. */
  queues: Queues
  /** Which targets take connections. */
  health: TargetHealth
  /** What releases answered, and how fast. */
  measures: Measures
  /** Copies of requests to releases that answer nobody. */
  shadows: Shadows
  /** Who wants to see requests and answers. */
  samples: Samples
  /** How far canaries have come. */
  rollouts: Rollouts
  /** How many servers endpoints have, where the head chooses it. */
  scaler: Scaler
  mlflow: MlflowServer
  /** The rack's own certificate authority, or what a standby was given by it. */
  authority: Issuer
  /** Who follows this head. */
  followers: Followers
  /** Of a standby: whom it follows. */
  following?: Following
  /** Whether another head has taken over. */
  superseded: Superseded
  /** The rack's page. */
  ui: Ui
  limits: Limits
  /** Connections that have shown no token. */
  pending: PendingConnections
  startedAt: number
  /** Base URL for nodes, known once it listens. */
  url: () => string
  port: () => number
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller
    /** What it is about, for the log, where its path does not say that. */
    about?: string
    /** Why it was refused. */
    refusal?: string
    atEnd: Incoming['atEnd']
  }
}
