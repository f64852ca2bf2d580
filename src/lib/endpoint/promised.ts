import {CliError, isCliError} from '../base/index.ts'
import {connectHead} from '../head/index.ts'
import {loadRack} from '../rack/index.ts'
import {openFleet} from '../ssh/index.ts'
import type {EndpointRecord} from './document.ts'
import type {Site} from './site.ts'

interface Switch {
  state: 'promised' | 'committed' | 'dropped'
  racks: string[]
}

/**
 * An endpoint that is promised to a switch over several racks, whose command was cut off, is as that was decided before
 * anything else is done with it. Its head asks the one that decides; where it cannot, this machine does. Errors: LOCKED
 * where neither has an answer.
 */
export async function settlePromised(site: Site, {document, promised}: EndpointRecord): Promise<boolean> {
  if (promised === undefined) return false
  const path = `/flexrack/v1/joint/${promised}`
  const {state, racks} = await site.head.request<Switch>('POST', `${path}/settle`)
  const decided = state === 'promised' ? await askFrom(site, racks[0] ?? '', path) : state
  const others = racks.filter((name) => name !== site.rack.name).join(', ')
  if (decided === undefined)
    throw new CliError('LOCKED', `endpoint ${document.name} is promised to a switch together with rack ${others}`, {
      hint: `wait a minute; it is settled once the head of rack ${racks[0]} can be asked`,
      details: {racks},
    })
  if (state === 'promised') await site.head.request('POST', `${path}/decision`, {decision: decided})
  const how = decided === 'committed' ? 'was carried out' : 'was dropped'
  site.context.reporter.note(`The switch of endpoint ${document.name} together with rack ${others} ${how}.`)
  return true
}

/** What the head of the leading rack has decided, as this machine reaches it. */
async function askFrom(site: Site, leader: string, path: string): Promise<'committed' | 'dropped' | undefined> {
  if (leader === site.rack.name) return undefined
  try {
    const {context} = site
    const rack = await loadRack(leader, context.env)
    const fleet = openFleet(rack.nodes, context)
    try {
      const head = await connectHead(rack, fleet, context)
      const {state} = await head.request<Switch>('POST', `${path}/verdict`, {}).finally(() => head.close())
      return state === 'promised' ? undefined : state
    } finally {
      await fleet.close()
    }
  } catch (error) {
    if (!isCliError(error) || error.code === 'INTERRUPTED') throw error
    return undefined
  }
}
