import {Failure} from '../failure.ts'
import type {HeadKeyLimits} from '../../../protocol/index.ts'
import type {TokenRequest} from './token-kinds.ts'

/** What a program of another team is given is not changed every quarter. */
const LONGEST_KEY_SECONDS = 366 * 24 * 3600
/** Part of paths and of labels in metrics. */
const CLIENT = /^[a-z0-9][a-z0-9._-]{0,62}$/i

/** For whom a key of an endpoint is wanted, and what it may. 400 for what cannot be meant. */
export function readKey(request: TokenRequest, ttl: number): {client: string; limits: HeadKeyLimits} {
  const {client, requests_per_second: rate, concurrency, tokens_per_minute: tokens} = request
  if (typeof client !== 'string' || !CLIENT.test(client))
    throw new Failure(400, 'USAGE', 'client must be a name: letters, digits, dot, dash, underscore; 63 at most')
  if (rate !== undefined && !(typeof rate === 'number' && rate > 0 && rate <= 1e6))
    throw new Failure(400, 'USAGE', 'requests_per_second must be a number over 0')
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && Number(concurrency) > 0))
    throw new Failure(400, 'USAGE', 'concurrency must be a whole number over 0')
  if (tokens !== undefined && !(typeof tokens === 'number' && tokens > 0 && tokens <= 1e9))
    throw new Failure(400, 'USAGE', 'tokens_per_minute must be a number over 0')
  if (ttl > LONGEST_KEY_SECONDS)
    throw new Failure(400, 'USAGE', `a key ends after ${LONGEST_KEY_SECONDS / 86_400} days at the latest`)
  const limits: HeadKeyLimits = {
    ...(rate !== undefined && {requestsPerSecond: rate as number}),
    ...(concurrency !== undefined && {concurrency: concurrency as number}),
    ...(tokens !== undefined && {tokensPerMinute: tokens as number}),
  }
  return {client, limits}
}
