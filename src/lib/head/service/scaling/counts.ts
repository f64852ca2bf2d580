import {Histogram} from '../releases/histogram.ts'
import type {Reason} from './decide.ts'

/** What was done at one endpoint about the number of its servers, since the head was started; over all of its releases. */
export class ScalingCounts {
  /** Times that another number was chosen. */
  readonly decisions: Record<Reason, number> = {request: 0, load: 0, burst: 0, calm: 0, idle: 0, bounds: 0}
  /** From a request that found all asleep to a server that is ready. */
  readonly wakes = new Histogram()
  /** Servers that could not be started. */
  failures = 0
}
