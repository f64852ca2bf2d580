/** Who of those who wait for the same may start, and when the others may: pure, for the head and for a simulation. */
export {collide, turnsOf} from './turns.ts'
export {decayed, faded, type Use} from './used.ts'
export type {Part, QueueFacts, Running, Turn, Waiting} from './types.ts'
