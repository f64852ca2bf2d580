import {isCliError} from '../base/index.ts'
import {connectHead} from '../head/index.ts'
import type {Replica} from './document.ts'
import type {Site} from './site.ts'

/** A standby that does not reach it will not serve it: better known now than when the head is away. */
export async function warnOfStandby(
  site: Site,
  {url, node}: Pick<Replica, 'url' | 'node'>,
  path: string,
): Promise<void> {
  const {standby} = site.rack.head
  if (standby === undefined || site.standbyUri === undefined) return
  try {
    const head = await connectHead(site.rack, site.fleet, site.context, 'standby')
    const found = await head
      .request<{reached: boolean; why?: string}>('POST', '/flexrack/v1/reach', {url, path})
      .finally(() => head.close())
    if (found.reached) return
    const message = `the standby on ${standby} does not reach the model server at ${url} of ${node}: ${found.why}`
    site.context.reporter.warn(message)
  } catch (error) {
    if (!isCliError(error) || error.code === 'INTERRUPTED') throw error
    site.context.reporter.warn(`the standby on ${standby} does not say whether it reaches ${url}: ${error.message}`)
  }
}
