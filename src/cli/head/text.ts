import {sizeText} from '../../lib/base/index.ts'
import type {HeadStatus} from '../../lib/head/index.ts'
import {duration, fields} from '../terminal/render.ts'

/** The head for people. */
export function headText(status: HeadStatus): string {
  const {mlflow, disk} = status
  const shown = fields([
    ['head', `${status.state} on ${status.node}`],
    ['rack', status.rack],
    ['address for nodes', status.url ?? undefined],
    ['its certificates', status.certificates],
    ['up for', status.uptimeSeconds === undefined ? undefined : duration(status.uptimeSeconds * 1000)],
    [
      'MLflow',
      mlflow &&
        `${mlflow.version ?? ''} ${mlflow.state}${mlflow.restarts > 0 ? `, started again ${mlflow.restarts} times` : ''}`.trim(),
    ],
    ['last error', mlflow?.state === 'ready' ? undefined : (mlflow?.lastError ?? undefined)],
    ['store', status.store],
    ['artifacts', status.artifacts],
    ['disk', disk && `${sizeText(disk.free)} of ${sizeText(disk.total)} free`],
    ['endpoints', status.endpoints],
    ['log', status.lines?.join('\n')],
  ])
  const next =
    status.state === 'running' ? 'flexrack head ui' : status.state === 'stopped' ? 'flexrack head start' : undefined
  return next ? `${shown}\n\nnext: ${next}` : shown
}
