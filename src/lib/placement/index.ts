/**
 * Which nodes, GPUs, CPUs and cards a run gets, and why: pure, from what the nodes told of themselves and what others
 * have on them.
 */
export {placeGang} from './place.ts'
export {placeServers, type PlacedServer, type ServersPlaced, type ServersRequest} from './servers.ts'
export {shareOf, type ShareWish} from './share.ts'
export {WOULD_DO} from './text.ts'
export type {
  Candidate,
  Held,
  LeasedGpu,
  LeaseWish,
  NodeReason,
  PlacedGpu,
  PlacedNode,
  PlacedRank,
  PlacementRequest,
  PlacementResult,
} from './types.ts'
