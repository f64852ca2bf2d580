import type {Context} from '../lib/base/index.ts'
import type {TrainPlan} from '../lib/train/index.ts'
import {openStatusLine} from './run-watch.ts'
import type {Session} from './session.ts'

/** The line under a training's output, see openStatusLine. `close()` may be called without `open()`. */
export function trainStatus({rack, fleet}: Session, options: {every: number | undefined; json: boolean}, context: Context): {open(started: TrainPlan): void; close(): Promise<void>} {
  let opening: Promise<() => Promise<void>> | undefined
  return {
    open: ({spec, live}) => {
      const run = {run: spec.run, nodes: live.started.toSorted((a, b) => a.index - b.index)}
      opening = openStatusLine({place: {rack, fleet, hosts: new Map()}, run, records: async () => ({tracking: live.tracking, away: undefined}), ...options}, context)
    },
    close: async () => (await opening)?.(),
  }
}
