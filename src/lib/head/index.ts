/**
 * The rack's one long-lived service, from here: over SSH to its node, and over HTTP to its listener. Its process is
 * service/.
 */
export {planHead} from './plan.ts'
export {startHead} from './start.ts'
export {DEADLINE_HEADER} from './types.ts'
export {headStatus, stopHead} from './status.ts'
export {connectHead, type HeadConnection} from './connect.ts'
export type {HeadAccess} from './places.ts'
export type {Login} from './login.ts'
export {openTracking, type RunAccess, type Tracking} from './tracking.ts'
export type {
  CanaryRules,
  ClaimAnswer,
  ClaimOutlook,
  ClaimWish,
  HoldOutlook,
  HoldWish,
  KeptWish,
  Excess,
  Exchange,
  DeviceCode,
  HeadStatus,
  HeadIdentity,
  LoginWays,
  OutlookWish,
  MadeToken,
  PeopleFacts,
  UserToken,
  WhoAmI,
  JudgeRules,
  PageAsk,
  PageAsks,
  PageGpu,
  LinesAt,
  PageHours,
  PageIdle,
  MergedWish,
  PageHand,
  PageLease,
  PageNode,
  PageQuestion,
  PageRack,
  PageLines,
  PageNotebook,
  PageRun,
  PageRunDetail,
  PageStacks,
  PageSweep,
  PageTopology,
  PlaceState,
  ClientTraffic,
  DurationCounts,
  QueuedRun,
  QueueFigures,
  QuotaUse,
  QuotaSum,
  RoomOffer,
  ReleaseCounts,
  ReleaseFigures,
  Sampled,
  ScalingFigures,
  ScalingRules,
  ServerStatus,
  ShadowFigures,
  TrafficCounts,
  StandbyStatus,
} from './types.ts'
export {HEAD_PACKAGES} from './requirements.ts'
