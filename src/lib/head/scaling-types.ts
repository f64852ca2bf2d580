/**
 * Of the release that serves, where the head chooses how many servers it has: between which numbers, by what, and where
 * they may run. Every place is prepared there: to start its server takes nobody but its node.
 */
export interface ScalingRules {
  min: number
  max: number
  /** Requests under way and waiting that one server is to have. */
  target: number
  /** Seconds without a request until the last server ends, where `min` is 0. */
  idle: number
  /** Seconds for which fewer servers have to do before one ends. */
  down: number
  /** Seconds that a server may take to be ready. */
  longestStart: number
  places: ScalingPlace[]
}

/** Where one server may run. */
export interface ScalingPlace {
  /** Id of the service on its node. */
  service: string
  node: string
  /** Its base URL as the head reaches it. */
  url: string
}

/** `off`: prepared, not started. `lost`: it does not answer, and another one is started in its place. */
export type PlaceState = 'off' | 'starting' | 'ready' | 'draining' | 'lost' | 'failed'

/** How an endpoint's servers are chosen now, as the head knows it. */
export interface ScalingFigures {
  /** asleep: none runs, and a request starts one. waking: none is ready, one starts. stuck: none is ready, and none could be started. */
  state: 'awake' | 'asleep' | 'waking' | 'stuck'
  /** Servers there should be. */
  wanted: number
  ready: number
  /** Requests under way and waiting, on average over a minute. */
  load: number
  /** Requests that wait for a server. */
  waiting: number
  /** How often a server was started for a request that found none. */
  wakes: number
  places: {service: string; node: string; state: PlaceState; since: number; why?: string}[]
  /** Newest first; `at` in milliseconds since 1970. */
  events: {at: number; text: string}[]
  /** Nodes whose agent does not ask. */
  silent: string[]
}
