/**
 * Nodes reserved for a run, all of them or none: leases that are files on the nodes
 * (node/flexrack_node/reservation/place.py, docs/adr/0014).
 */
export {readReservations} from './read.ts'
export {planRelease, releaseLease, type ChosenLease, type Released} from './release.ts'
export {reserveGang, type GangReservation, type ReserveOptions} from './reserve.ts'
export {endText, wantsText} from './text.ts'
export type {GangWish, Turns} from './types.ts'
