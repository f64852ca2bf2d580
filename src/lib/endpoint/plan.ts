import type {Plan, Step} from '../plan/index.ts'
import type {Release, Replica} from './document.ts'

/** One change of what serves: bring up, switch, drain, end. Deploy, rollback, scale and remove are all of this shape. */
export interface Transition {
  command: string
  endpoint: string
  /** What serves afterwards, with all its replicas. */
  release: Release
  /** Those of its replicas that do not run yet. */
  start: Replica[]
  /** What runs now and will not be needed. */
  stop: Replica[]
  /** Name of the head's node. */
  headNode: string
  /** The model has to be downloaded in any case (a new release). */
  fetch: boolean
}

/** The steps of a transition. Pure: what --dry-run prints is what is executed. */
export function transitionPlan(change: Transition): Plan {
  const {endpoint, release, start, stop, headNode} = change
  const model = `${release.model.name}/${release.model.version}`
  const nodes = [...new Set(start.map((replica) => replica.node))]
  const fetch: Step[] = change.fetch && start.length > 0 ? [step('fetch', null, 'endpoint.fetch', `Fetch model ${model}`, {model}, [])] : []
  const prepare = nodes.flatMap((node) => [
    step(`environment:${node}`, node, 'endpoint.environment', `Python environment of the runtime ${release.runtime}`, {runtime: release.runtime}, []),
    step(`place:${node}`, node, 'endpoint.place', `Put model ${model} into place`, {release: release.id}, fetch.map((one) => one.id)),
  ])
  const bringUp = start.flatMap(({index, node, service}) => [
    step(`start:${service}`, node, 'endpoint.start', `Start model server ${service}`, {index, service}, [`environment:${node}`, `place:${node}`]),
    step(`ready:${service}`, node, 'endpoint.ready', `Wait until ${service} is ready and answers`, {index, service}, [`start:${service}`]),
  ])
  const ready = start.map((replica) => `ready:${replica.service}`)
  const flip = step('switch', headNode, 'endpoint.switch', `Send requests of endpoint ${endpoint} to release ${release.id}`, {release: release.id}, ready)
  const drain = stop.length > 0 ? [step('drain', headNode, 'endpoint.drain', 'Wait until requests under way are answered', {services: stop.map((one) => one.service)}, ['switch'])] : []
  const end = stop.map(({node, service}) => step(`stop:${service}`, node, 'endpoint.stop', `Stop model server ${service}`, {service}, ['drain']))
  return {command: change.command, steps: [...fetch, ...prepare, ...bringUp, flip, ...drain, ...end]}
}

/** Replicas of one list that are not in the other, by service. */
export function without(replicas: Replica[], others: Replica[]): Replica[] {
  return replicas.filter((replica) => !others.some((other) => other.service === replica.service && other.node === replica.node))
}

function step(id: string, node: string | null, kind: string, title: string, input: Record<string, unknown>, needs: string[]): Step {
  return {id, node, kind, title, input, needs}
}
