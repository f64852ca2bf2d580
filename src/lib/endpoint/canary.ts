import {CliError} from '../base/index.ts'
import type {CanaryRules, JudgeRules} from '../head/index.ts'
import type {EndpointDocument, EndpointRecord} from './document.ts'

/** What a deploy wants for a release that is put beside the active one: the rules of its canary, which there is not yet. */
export type CanaryWish = Omit<CanaryRules, 'release' | 'since' | 'targets'>

/** The judge's, unless it is told others. */
const JUDGE_DEFAULTS: JudgeRules = {minimum: 100, hold: 30}

/** As flags of a command have it. */
export interface GivenCanary {
  /** `10%`; with a judge also `10,50,100`. */
  canary?: string | undefined
  judge?: boolean | undefined
  minimum?: number | undefined
  hold?: number | undefined
  header?: string | undefined
  /** Copies of the requests instead of a part of them. */
  shadow?: boolean | undefined
}

/** What flags of a deploy say of a canary; undefined where they want none. USAGE for what they cannot mean. */
export function readCanary({
  canary,
  judge = false,
  minimum,
  hold,
  header,
  shadow,
}: GivenCanary): CanaryWish | undefined {
  if (shadow) return {steps: [0], shadow}
  if (canary === undefined) return undefined
  if (header !== undefined && !/^[A-Za-z0-9-]{1,100}$/.test(header))
    throw new CliError('USAGE', `"${header}" is no name of a header`, {hint: '--split-header x-user'})
  return {
    steps: readSteps(canary, judge),
    ...(judge && {judge: {minimum: minimum ?? JUDGE_DEFAULTS.minimum, hold: hold ?? JUDGE_DEFAULTS.hold}}),
    ...(header !== undefined && {header: header.toLowerCase()}),
  }
}

/** Percents: `10%`, or `10,50,100` for a judge, who ends at all requests. */
function readSteps(text: string, isJudged: boolean): number[] {
  const steps = text.split(',').map((one) => (/^\s*\d{1,3}(\.\d+)?\s*%?\s*$/.test(one) ? parseFloat(one) : NaN))
  const isRising = steps.every((one, index) => one > (steps[index - 1] ?? 0) && one <= 100)
  if (!isRising || steps.length > 20) {
    throw new CliError('USAGE', `"${text}" is no part of the requests: percents that rise, above 0, 100 at most`, {
      hint: '--canary 10%\n--canary 10,50,100 --judge',
    })
  }
  const [first = 0, ...more] = steps
  if (!isJudged) {
    if (more.length === 0 && first < 100) return steps
    throw new CliError('USAGE', 'without a judge a canary has one part of the requests, below 100 %', {
      hint: `--canary ${text} --judge\n--canary ${first < 100 ? first : 10}%`,
    })
  }
  const whole = more.length === 0 && first < 50 ? [first, 50] : steps
  return whole.at(-1) === 100 ? whole : [...whole, 100]
}

/** Beginning of a sentence: `Send 10 % of the requests`. */
export function whatCanaryGets({steps, judge, header, shadow}: CanaryWish): string {
  if (shadow) return 'Send copies of the requests'
  const parts = steps.map((one) => `${one} %`).join(', then ')
  return `Send ${parts} of the requests${header === undefined ? '' : ` (by ${header})`}${judge ? ', as the judge allows,' : ''}`
}

/** CONFLICT while a canary is under way: one change after the other. */
export function requireNoCanary({document, rollout}: EndpointRecord, what: string): void {
  const {canary, name} = document
  if (!canary) return
  const gets = canary.shadow
    ? ' with copies of the requests'
    : rollout
      ? ` with ${rollout.percent} % of the requests`
      : ''
  throw new CliError(
    'CONFLICT',
    `endpoint ${name} has a canary under way: release ${canary.release}${gets}; it ends before ${what}`,
    {
      hint: `flexrack endpoint promote ${name}\nflexrack endpoint abort ${name}`,
      details: {release: canary.release, ...(rollout && {percent: rollout.percent})},
    },
  )
}

/** What a canary needs beside it: an active release that speaks the same, and a head that knows what a canary is. */
export function requireBeside({document, figures}: EndpointRecord, protocol: string | undefined): void {
  const {active, name} = document
  if (!active) {
    throw new CliError('USAGE', `endpoint ${name} serves nothing yet that would get the other requests`, {
      hint: `flexrack endpoint deploy ${name}`,
    })
  }
  if (active.protocol !== protocol) {
    const message =
      `release ${active.release} speaks ${active.protocol ?? 'v2'} and the new one ${protocol ?? 'v2'}: ` +
      'no caller could speak with both'
    throw new CliError('USAGE', message, {hint: 'deploy it without --canary, or as another endpoint'})
  }
  if (!figures) {
    throw new CliError('HEAD_FAILED', 'the head is older than canaries', {hint: 'flexrack head start'})
  }
}

export function requireCanary(document: EndpointDocument): CanaryRules {
  if (document.canary) return document.canary
  const last = document.releases[0]
  const ended = last?.reason === undefined ? '' : `; release ${last.id}: ${last.reason}`
  throw new CliError('NOT_FOUND', `endpoint ${document.name} has no canary${ended}`, {
    hint: `flexrack endpoint deploy ${document.name} --canary 10%`,
  })
}
