import {tmpdir} from 'node:os'
import {dirname} from 'node:path'
import type {ServiceConfig} from '../../types.ts'
import {Budget, type Hold} from './budget.ts'
import type {Incoming} from './incoming.ts'
import type {PaceRules} from './pace.ts'
import {Room} from './room.ts'

const MIB = 1024 ** 2

/** What requests may take of the machine. */
export interface Limits {
  /** Bodies that are kept until the answer: every byte is the head's own memory. */
  buffers: Budget
  /** Bodies that are passed on: who gets them may keep them whole, as MLflow does. */
  streams: Budget
  pace: PaceRules
  /** Disks that uploads are written to. */
  room: Room
}

/** Those of a head. */
export function makeLimits(config: ServiceConfig): Limits {
  const {
    buffers = 256 * MIB,
    streams = 512 * MIB,
    pace = {everyMs: 30_000, bytes: MIB},
    floor = 256 * MIB,
  } = config.limits ?? {}
  return {
    buffers: new Budget('bodies of requests', {limit: buffers, share: 0.5, oldestGoesOn: false}),
    streams: new Budget('uploads', {limit: streams, share: 0.75, oldestGoesOn: true}),
    pace,
    room: new Room(
      config.artifacts === undefined || config.artifacts.startsWith('/')
        ? [config.folder, config.artifacts ? dirname(config.artifacts) : config.folder, tmpdir()]
        : [config.folder, tmpdir()],
      floor,
    ),
  }
}

/** What a request holds of a budget; given back when its answer has gone out, or its connection. */
export function holdOf(request: Incoming, budget: Budget): Hold {
  const {caller} = request
  const hold = budget.open(caller && 'id' in caller ? caller.id : undefined)
  request.atEnd(() => hold.release())
  return hold
}
