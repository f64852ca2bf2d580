import type {ReleaseFigures, ShadowFigures} from '../head/index.ts'
import {canaryRelease, type EndpointRecord} from './document.ts'

export interface CanaryStatus {
  release: string
  model: string
  replicas: number
  /** Percent of the requests that it gets now. */
  percent: number
  /** All that it is to get, one after the other. */
  steps: number[]
  judged: boolean
  /** Header by whose value requests are split. */
  header: string | undefined
  since: string
  /** It gets copies, and answers nobody. */
  shadow: boolean
  /** What became of the copies. */
  copies: ShadowFigures | undefined
  /** What the judge saw last. */
  verdict: string | undefined
}

/** What a release got of the requests, since the head was started. */
export interface ReleaseTraffic extends ReleaseFigures {
  release: string
  /** Percent of the requests that it gets now. */
  percent: number
}

/** What the gateway counted, the active release first. Pure. */
export function trafficOf({document, rollout, figures = {}}: EndpointRecord): ReleaseTraffic[] {
  const [active, canary] = [document.active?.release, document.canary?.release]
  const percents = {
    ...(active !== undefined && {[active]: 100 - (rollout?.percent ?? 0)}),
    ...(canary !== undefined && {[canary]: rollout?.percent ?? 0}),
  }
  const former = Object.keys(figures).filter((release) => !(release in percents))
  return [...Object.keys(percents), ...former].map((release) => ({
    release,
    percent: percents[release] ?? 0,
    ...(figures[release] ?? NONE),
  }))
}

const NONE: ReleaseFigures = {
  requests: 0,
  failed: 0,
  refused: 0,
  abandoned: 0,
  inFlight: 0,
  p50: null,
  p95: null,
  p99: null,
}

export type CanaryRecord = Pick<EndpointRecord, 'document' | 'rollout' | 'shadow' | 'scaling'>

/** What stands beside the active release. Pure. */
export function canaryStatus({document, rollout, shadow}: CanaryRecord): CanaryStatus | undefined {
  const {canary} = document
  const release = canaryRelease(document)
  if (!canary || !release) return undefined
  return {
    release: release.id,
    model: `${release.model.name}/${release.model.version}`,
    replicas: release.replicas.length,
    percent: rollout?.percent ?? canary.steps[0] ?? 0,
    steps: canary.steps,
    judged: canary.judge !== undefined,
    header: canary.header,
    since: canary.since,
    shadow: canary.shadow ?? false,
    copies: shadow,
    verdict: rollout?.verdict,
  }
}
