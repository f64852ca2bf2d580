import type {EndpointDetails} from '../../lib/endpoint/index.ts'
import {ago, table} from '../terminal/render.ts'

type Scaling = NonNullable<EndpointDetails['scaling']>

const MOST_EVENTS = 10

/** One line of `endpoint show`. */
export function scalingText({range}: Pick<EndpointDetails, 'range'>, scaling: Scaling): string {
  const {ready, wanted, load, waiting, target, idle, down, startSeconds, silent, wakes} = scaling
  const parts = [
    `${ready} ready, ${wanted} wanted${range ? ` of ${range.min} to ${range.max}` : ''}`,
    `${load.toFixed(1)} requests at once over a minute, ${target} a server`,
    waiting > 0 && `${waiting} requests wait`,
    `fewer after ${down} s${range?.min === 0 ? `, none after ${idle} s without a request` : ''}`,
    startSeconds !== undefined && `a start takes ${startSeconds.toFixed(1)} s`,
    wakes > 0 && `woken ${wakes} times`,
    silent.length > 0 && `no word from ${silent.join(', ')}`,
  ]
  return parts.filter(Boolean).join('; ')
}

/** What the head did of late, the newest first; and why servers could not be started. */
export function eventsText(scaling: Scaling | undefined): string {
  if (!scaling || scaling.events.length === 0) return ''
  const rows = scaling.events
    .slice(0, MOST_EVENTS)
    .map(({at, text}) => ({when: ago(new Date(at).toISOString()), what: text}))
  return table(rows, ['when', 'what'])
}
