import {sizeText} from '../../lib/base/index.ts'
import type {HeadStatus, StandbyStatus} from '../../lib/head/index.ts'
import {duration, fields} from '../terminal/render.ts'

/** The head for people. */
export function headText(status: HeadStatus): string {
  const {mlflow, disk, standby} = status
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
    ['why', status.superseded && supersededText(status.superseded)],
    ['standby', standby && standbyText(standby)],
    ['its address', standby?.url ?? undefined],
    ['log', status.lines?.join('\n')],
  ])
  const next = {running: 'flexrack head ui', stopped: 'flexrack head start', superseded: 'flexrack head promote'}[
    status.state as string
  ]
  return next ? `${shown}\n\nnext: ${next}` : shown
}

function supersededText({node, url, at}: NonNullable<HeadStatus['superseded']>): string {
  return `it has stepped down, as it heard at ${at} that ${node} (${url}) was made the head`
}

/** One line. */
function standbyText({node, state, following, superseded, lines}: StandbyStatus): string {
  const where = `${state} on ${node}`
  if (superseded) return `${where}: ${supersededText(superseded)}. To have it follow: flexrack head start`
  if (!following) return [where, lines?.at(-1)].filter(Boolean).join(': ')
  const {heardAt, servesUntil, unreached} = following
  const unheard = `the head has not answered it since ${new Date(heardAt).toISOString()}`
  const how = {
    following: 'follows the head',
    away: `${unheard}; it serves endpoints until ${new Date(servesUntil).toISOString()}`,
    expired: `${unheard}, and it serves nothing any more`,
    dismissed: 'serves nothing, as the head does not know it any more: flexrack head start',
  }[following.state]
  const missing =
    unreached.length > 0 ? `; it does not reach the servers of ${unreached.join(', ')}: deploy them anew` : ''
  return `${where}, ${how}${missing}`
}
