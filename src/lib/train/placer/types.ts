import type {Context} from '../../base/index.ts'
import type {NodeReport} from '../../nodes/index.ts'
import type {NodeReservations} from '../../protocol/index.ts'
import type {WorkspacePlan} from '../../workspace/index.ts'
import type {TrainStep} from '../steps/types.ts'
import type {RunSpec, TrainChoice, TrainPlace} from '../types.ts'
import type {SlurmPlaces} from './slurm-script.ts'

/**
 * Who places a run. What it decides is in the run's description and in steps; what all runs have around these is
 * planTrain's.
 */
export interface Placer {
  /** Decides, and looks at the nodes; changes nothing. */
  place(place: TrainPlace, choice: TrainChoice, context: Context): Promise<Placed>
}

export interface Placed {
  spec: RunSpec
  /** Of the nodes from which it is started. */
  workspaces: WorkspacePlan
  /**
   * What is done before anything is changed; each may need others of its own list, and needs what comes before all of
   * it.
   */
  claim: TrainStep[]
  /** What only asks, and so needs nothing. */
  ask: TrainStep[]
  /** After the environments are built, because it compares them; before there is a record of a run that will not be. */
  check: TrainStep[]
  /** Each list needs all of what comes before it. */
  start: TrainStep[][]
  /** Who has what on its nodes, where that was asked for. */
  held: NodeReport<NodeReservations>[]
  slurm?: SlurmPlaced
}

/** What Slurm's script is made of, and what its cluster allows. */
export interface SlurmPlaced {
  script: string
  places: SlurmPlaces
  /** Tasks of an array have numbers below this; 0 without arrays, and where nobody has asked. */
  arrays: number
}
