import type {ServiceConfig} from '../types.ts'
import type {Endpoints} from './endpoints.ts'
import type {Locks} from './locks.ts'
import type {MlflowServer} from './mlflow.ts'
import type {Caller, Tokens} from './tokens.ts'
import type {Traffic} from './traffic.ts'

/** What the parts of the door share. */
export interface Parts {
  config: ServiceConfig
  tokens: Tokens
  locks: Locks
  endpoints: Endpoints
  traffic: Traffic
  mlflow: MlflowServer
  startedAt: number
  /** Base URL for nodes, known once it listens. */
  url: () => string
  port: () => number
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller
  }
}
