import {isCliError} from '../base/index.ts'
import type {HoldWish, QuotaSum} from '../head/index.ts'
import type {Plan} from '../plan/index.ts'
import {sumsText} from '../holding/index.ts'
import type {EndpointDocument, Release} from './document.ts'
import type {Transition} from './plan.ts'
import type {Site} from './site.ts'

/** Of which project it is: that in which it was made. Pure. */
export function inProject({manifest}: Pick<Site, 'manifest'>, document: EndpointDocument): EndpointDocument {
  const project = document.project ?? manifest?.name
  return project === undefined ? document : {...document, project}
}

/**
 * Model servers that an endpoint has, or may come to, once a change is done; what it replaces meanwhile does not count.
 * Pure.
 */
export function serversAfter({releases}: EndpointDocument, {release, canary}: Transition): number {
  const beside = canary && releases.find((one) => one.state === 'active')
  return serversOf(release) + (beside && beside.id !== release.id ? serversOf(beside) : 0)
}

/** What it would come to of each limit that counts for it; nothing where the rack has no quotas. Errors: those of requests. */
export async function sumsFor(site: Site, before: EndpointDocument, change: Transition): Promise<QuotaSum[]> {
  if (!site.head.quotas || site.isStandby) return []
  const {name, project = 'default'} = inProject(site, before)
  const wish: HoldWish = {kind: 'endpoint', name, project, amount: serversAfter(before, change)}
  try {
    return (await site.head.request<{sums: QuotaSum[]}>('POST', '/flexrack/v1/holdings/outlook', wish)).sums
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return [] // a head of an older version counts none of it
    throw error
  }
}

/** With the sums where requests are switched: that is refused where it is over one. Pure. */
export function withSums<P extends Pick<Plan, 'steps'>>(plan: P, sums: readonly QuotaSum[]): P {
  const text = sumsText(sums)
  const steps = plan.steps.map((step) =>
    text !== '' && (step.kind === 'endpoint.switch' || step.kind === 'endpoint.split')
      ? {...step, title: `${step.title}; ${text}`}
      : step,
  )
  return {...plan, steps}
}

function serversOf({replicas, scaling}: Release): number {
  return scaling ? scaling.max : replicas.length
}
