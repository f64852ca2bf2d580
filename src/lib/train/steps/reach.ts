import type {Tracking} from '../../head/index.ts'
import {openTrainTracking} from '../track.ts'
import type {ReachInput, TrainEnv, TrainStep} from './types.ts'

/** Before anything is built: a missing head is told in the first second, not after minutes of pip. */
export function reachStep(uri: string | undefined, rack: string, project: string): TrainStep {
  return {
    id: 'reach',
    node: null,
    kind: 'train.reach',
    title: `Reach ${serverName(uri, rack)}`,
    input: {uri: uri ?? null, project},
    needs: [],
  }
}

export function serverName(uri: string | undefined, rack: string): string {
  return uri ?? `the head of rack ${rack}`
}

export function reach({uri, project}: ReachInput, _done: unknown, {rack, fleet, context}: TrainEnv): Promise<Tracking> {
  return openTrainTracking({rack, fleet}, uri ?? undefined, project, context)
}
