import type {TrainSpec} from '../manifest/index.ts'
import type {TrainChoice} from '../train/index.ts'

/**
 * Nodes of a trial: of an elastic size the least, in every trial. Trials that had more nodes than others would not be
 * comparable, and small ones leave room for each other. Pure.
 */
export function trialSize({nodes, minNodes}: Pick<TrainSpec, 'nodes' | 'minNodes'>): number {
  return minNodes ?? nodes
}

/** What every trial's run is asked for. Spares are not kept: beside every trial a node would be idle. Pure. */
export function trialChoice(train: Pick<TrainSpec, 'nodes' | 'minNodes'>, more: Partial<TrainChoice>): TrainChoice {
  return {args: [], tracking: true, nodes: trialSize(train), spares: 0, ...more}
}
