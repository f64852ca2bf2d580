import type {Parts} from '../parts.ts'
import {Queues} from './queues.ts'
import {rulesOf} from './settings.ts'
import {TargetHealth} from './target-health.ts'

/** The queues of all endpoints, told of whatever lets somebody go on. */
export function openQueues({
  endpoints,
  rollouts,
}: Pick<Parts, 'endpoints' | 'rollouts'>): Pick<Parts, 'queues' | 'health'> {
  const queues = new Queues((name) => rulesOf(endpoints.find(name)))
  endpoints.whenChanged((name) => queues.changed(name))
  rollouts.whenChanged((name) => queues.changed(name))
  return {queues, health: new TargetHealth(() => queues.wake())}
}
