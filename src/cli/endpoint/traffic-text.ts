import {count} from '../../lib/base/index.ts'
import type {CanaryStatus, EndpointDetails, EndpointSummary} from '../../lib/endpoint/index.ts'
import {ago, fields, table} from '../terminal/render.ts'

/** After a deploy beside the active release. */
export function canaryDeployedText({name, release, model, callUrl}: EndpointSummary, canary: CanaryStatus): string {
  const next = canary.judged
    ? [`The head compares it with ${release}, and goes on or returns by itself.`]
    : [`Next: flexrack endpoint show ${name}`, `      flexrack endpoint promote ${name}`]
  return [
    `Release ${canary.release} of endpoint ${name} (${canary.model}, ${count(canary.replicas, 'replica')}) gets ${
      canary.shadow
        ? `copies of the requests; release ${release} (${model}) answers them`
        : `${canary.percent} % of the requests; release ${release} (${model}) the others`
    }.`,
    fields([['url', callUrl]]),
    '',
    ...next,
    `      flexrack endpoint abort ${name}`,
  ].join('\n')
}

/** What `endpoint list` says beside the active release. */
export function canaryShare({release, percent, shadow}: CanaryStatus): string {
  return `${release} ${shadow ? 'copies' : `${percent} %`}`
}

/** One line of `endpoint show`. */
export function canaryText(canary: CanaryStatus): string {
  const {release, model, percent, steps, judged, header, since, verdict, shadow, copies} = canary
  const parts = [
    `${release} (${model}) gets ${shadow ? 'copies' : `${percent} %`}, since ${ago(since)}`,
    copies && copiesText(copies),
    judged && `a judge: ${steps.map((one) => `${one} %`).join(', ')}${verdict === undefined ? '' : `; ${verdict}`}`,
    header !== undefined && `split by ${header}`,
  ]
  return parts.filter(Boolean).join('; ')
}

function copiesText(copies: NonNullable<CanaryStatus['copies']>): string {
  const {copied, same, different, failed, uncompared, dropped, lastDifference} = copies
  const where = lastDifference === undefined ? '' : ` (last at ${lastDifference})`
  return `of ${copied} answers ${same} the same, ${different} different${where}, ${failed} failed, ${uncompared} not compared; ${dropped} copies dropped`
}

/** One line of `endpoint show`; undefined where nothing ever waited, was refused or failed. */
export function queueText(queue: EndpointDetails['queue']): string | undefined {
  if (!queue) return undefined
  const {queued, most, waited, p50, p99, full, expired, late, retries, ejected, down} = queue
  const parts = [
    (queued > 0 || waited > 0) && `${queued} of ${most} wait`,
    waited > 0 && `${waited} waited (p50 ${p50} ms, p99 ${p99} ms)`,
    full > 0 && `${full} refused as it was full`,
    expired > 0 && `${expired} waited too long`,
    late > 0 && `${late} past their deadline`,
    retries > 0 && `${retries} sent twice`,
    ejected.length > 0 && `taken out for a while, as they failed: ${ejected.join(', ')}`,
    down.length > 0 && `take no connections: ${down.join(', ')}`,
  ].filter(Boolean)
  return parts.length > 0 ? parts.join('; ') : undefined
}

/** What each release got of the requests, where any came. */
export function trafficText({traffic, canary}: Pick<EndpointDetails, 'traffic' | 'canary'>): string {
  if (!canary && traffic.every((one) => one.requests === 0)) return ''
  const ms = (value: number | null): string => (value === null ? '-' : `${value} ms`)
  const rows = traffic.map((one) => ({
    release: one.release,
    share: `${one.percent} %`,
    requests: String(one.requests),
    failed: String(one.failed),
    refused: String(one.refused),
    abandoned: String(one.abandoned),
    p50: ms(one.p50),
    p95: ms(one.p95),
    p99: ms(one.p99),
    ...(one.batch && {batch: `${one.batch.mean}, at most ${one.batch.most}`}),
    ...(one.tokens && {
      tokens: `${one.tokens.prompt} + ${one.tokens.completion}`,
      first: ms(one.tokens.firstP50),
    }),
  }))
  const told = (['batch', 'tokens', 'first'] as const).filter((key) => rows.some((one) => one[key] !== undefined))
  return table(rows, [
    'release',
    ...(['share', 'requests', 'failed', 'refused', 'abandoned', 'p50', 'p95', 'p99', ...told] as const).map((key) => ({
      key,
      align: 'right' as const,
    })),
  ])
}
