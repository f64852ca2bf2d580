import {resolve} from 'node:path'
import {CliError} from '../base/index.ts'
import {savePicture} from '../chart/index.ts'
import {parallelPlot} from './parallel-plot.ts'
import type {Sweep} from './types.ts'

/** What `sweep plot` wrote. */
export interface Plotted {
  sweep: string
  /** Absolute path of the picture. */
  file: string
  /** Trials in it. */
  trials: number
}

/** Writes the picture. Errors: NOT_FOUND where no trial is complete, LOCAL_FAILED where the file cannot be written. */
export async function writePlot(sweep: Sweep, file: string): Promise<Plotted> {
  const trials = sweep.trials.filter((one) => one.state === 'complete').length
  if (trials === 0)
    throw new CliError('NOT_FOUND', `no trial of sweep ${sweep.sweep} is complete yet`, {
      hint: `flexrack sweep show ${sweep.sweep}`,
    })
  await savePicture(file, parallelPlot(sweep))
  return {sweep: sweep.sweep, file: resolve(file), trials}
}
