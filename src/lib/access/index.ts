/**
 * What a notebook or another machine needs to reach the rack's tracking server: a personal token, an address,
 * certificates.
 */
export {
  carryOutPersonal,
  personalTokens,
  planEnding,
  planPersonal,
  type PersonalToken,
  type TrackingEnv,
} from './personal.ts'
export {isReached} from './reached.ts'
