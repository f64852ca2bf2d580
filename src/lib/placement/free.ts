import type {Candidate} from './types.ts'

/** The whole node is somebody else's, or we want it whole and somebody else is on it. */
export function isTaken({held}: Candidate, exclusive: boolean): boolean {
  return held.some((one) => one.here && (one.exclusive || exclusive))
}

/**
 * Positions in topology.gpus of those that nobody has. `used`: UUIDs that this gang has on other nodes, which may be
 * the same machine.
 */
export function freeGpus({topology, held, busy}: Candidate, used: ReadonlySet<string>): number[] {
  const theirs = new Set(held.flatMap((one) => one.gpus))
  return (topology?.gpus ?? []).flatMap(({uuid, parts}, at) =>
    parts > 0 || theirs.has(uuid) || busy[uuid] !== undefined || used.has(uuid) ? [] : [at],
  )
}
