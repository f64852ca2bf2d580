/**
 * Sweeps: many runs of the training command with other parameters, chosen by Optuna
 * (node/flexrack_node/sweep/engine.py).
 */
export {planSweep, type SweepPlan} from './plan.ts'
export {runSweep} from './run.ts'
export {findSweep, listSweeps, type SweepPlace} from './storage.ts'
export {stopSweep, type StoppedSweep} from './stop.ts'
export {writePlot, type Plotted} from './write-plot.ts'
export type * from './types.ts'
