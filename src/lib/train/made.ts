/** What the steps of a run's plan have made; what each step gives is steps/types.ts. */
import type {RunLeases} from '../gpu/index.ts'
import type {Tracking} from '../head/index.ts'
import {valuesOf, type StepOutcome} from '../plan/index.ts'
import type {PreflightResult} from '../preflight/index.ts'
import type {NodeRun} from '../protocol/index.ts'
import type {GangReservation} from '../reservation/index.ts'
import type {TrainPlan} from './plan.ts'
import type {TrainKinds} from './steps/types.ts'
import type {TrackedStart} from './track.ts'

/** What the steps have made that outlives them. */
export interface Made {
  tracking: Tracking | undefined
  record: TrackedStart | undefined
  reservation: GangReservation | undefined
  leases: RunLeases[]
  /** In the order of the gang. */
  nodes: NodeRun[]
  /** Those of them that have not answered their start. */
  unheard: string[]
  preflight: PreflightResult | undefined
}

export function madeBy(outcomes: readonly StepOutcome[], {shared}: TrainPlan): Made {
  const of = <Kind extends keyof TrainKinds>(kind: Kind): TrainKinds[Kind]['output'][] =>
    valuesOf<TrainKinds, Kind>(outcomes, kind)
  return {
    tracking: shared?.tracking ?? of('train.reach')[0],
    record: of('train.track')[0]?.record,
    reservation: of('train.reserve')[0]?.reservation,
    leases: of('train.lease'),
    nodes: [...of('train.start').map((one) => one.run), ...of('train.submit')].sort((a, b) => a.index - b.index),
    unheard: of('train.start').flatMap((one) => (one.unheard ? [one.run.node] : [])),
    preflight: of('train.preflight')[0],
  }
}
