/** Who of those who wait for the same may start, who makes room, and when the others may: pure, for the head and for a simulation. */
export {collide, turnsOf} from './turns.ts'
export {roomFor, SLICE_SECONDS, yieldsTo, type Preemptor, type Holder} from './room.ts'
export {decayed, faded, type Use} from './used.ts'
export type {Part, QueueFacts, Running, Turn, Waiting} from './types.ts'
