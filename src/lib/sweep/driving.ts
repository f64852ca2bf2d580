import type {Tracking} from '../head/index.ts'
import type {Host} from '../host/index.ts'
import type {TrainSpec} from '../manifest/index.ts'
import {CHECKS, type CheckName} from '../preflight/index.ts'
import type {Trial} from '../protocol/index.ts'
import type {SharedStart, TrainChoice, TrainPlace} from '../train/index.ts'
import type {Engine} from './engine.ts'
import type {TrialsInput} from './steps.ts'
import {trialChoice} from './trial-choice.ts'
import type {SweepWatch} from './types.ts'
import {trialEnvironment, trialWords} from './words.ts'

/** What a sweep is driven with. */
export interface Driving {
  /** What is to be done. */
  input: TrialsInput
  place: TrainPlace
  host(node: string): Host
  engine: Engine
  tracking: Tracking
  shared: SharedStart
  watch: SweepWatch
}

/** Where trials train: with the sweep's own command. */
export function placeOfTrials({place, input: {command}}: Driving): TrainPlace {
  return {
    ...place,
    manifest: {...place.manifest, ...(place.manifest.train && {train: {...place.manifest.train, command}})},
  }
}

/** What a trial's run is asked for. `nodes`: those it is to have; without them it may have any that the sweep may. */
export function choiceOf(
  {input, place, shared}: Driving,
  trial: Trial,
  run: string,
  nodes: string[] | undefined,
): TrainChoice {
  const fleetChoice = {on: input.on ?? undefined, exclude: input.exclude ?? undefined}
  return trialChoice(place.manifest.train as TrainSpec, {
    ...fleetChoice,
    ...(nodes && {on: nodes.join(','), exclude: undefined}),
    run,
    args: trialWords(input.spec, trial.texts),
    env: {
      ...(input.threads !== null && {OMP_NUM_THREADS: String(input.threads)}),
      ...trialEnvironment(input.sweep, trial),
    },
    ...(!input.slurm && {preflight: {skip: Object.keys(CHECKS) as CheckName[], force: false}}),
    shared: {...shared, tags: {...shared.tags, 'flexrack.trial': String(trial.number)}},
  })
}
