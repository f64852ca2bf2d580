import {CliError} from '../../base/index.ts'
import type {Tracking} from '../../head/index.ts'
import {fromEnv, fromStep, type FromEnv, type FromStep} from '../../plan/index.ts'
import {openTrainTracking} from '../track.ts'
import type {Done, ReachInput, TrainEnv, TrainStep} from './types.ts'

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

/** Which tracking server a step takes, in its plan; `isShared`: one that is of other runs, too. Pure. */
export function trackingFrom(isShared: boolean): FromStep | FromEnv {
  return isShared ? fromEnv('shared', 'tracking') : fromStep('reach')
}

/** The tracking server that a step's input names. */
export function trackingOf(server: FromStep | FromEnv, done: Done, shared: TrainEnv['shared']): Tracking {
  const tracking: Tracking | undefined = '$output' in server ? done.of('train.reach', server) : shared?.tracking
  if (!tracking)
    throw new CliError('BUG', 'the plan takes a tracking server for granted that its environment does not have')
  return tracking
}
