import {CliError} from '../../lib/base/index.ts'
import type {QueueChange, QueueRules} from '../../lib/endpoint/index.ts'

/** What the flags say. Errors: USAGE where they say nothing. */
export function readLimits(flags: {
  concurrency?: number | undefined
  queue?: number | undefined
  wait?: number | undefined
  answer?: number | undefined
}): QueueRules {
  const {concurrency, queue: requests, wait: seconds, answer} = flags
  const rules = {
    ...(concurrency !== undefined && {concurrency}),
    ...(requests !== undefined && {requests}),
    ...(seconds !== undefined && {seconds}),
    ...(answer !== undefined && {answer}),
  }
  if (Object.keys(rules).length > 0) return rules
  throw new CliError('USAGE', 'nothing is to be limited', {
    hint: '--concurrency 8, --queue 200, --wait 30 or --answer 900',
  })
}

export function limitText({endpoint, queue}: QueueChange): string {
  const {concurrency, requests, seconds, answer} = queue
  const parts = [
    concurrency !== undefined && `a server gets ${concurrency} at once`,
    requests !== undefined && `${requests} wait at most`,
    seconds !== undefined && `none longer than ${seconds} s`,
    answer !== undefined && `a server may be silent for ${answer} s`,
  ]
  return `Requests of endpoint ${endpoint}: ${parts.filter(Boolean).join(', ')}.`
}
