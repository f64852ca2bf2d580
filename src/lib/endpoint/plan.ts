import {fromStep, type PlanOf, type StepOf} from '../plan/index.ts'
import type {NodeReason} from '../placement/index.ts'
import type {Release, Replica} from './document.ts'
import {whatCanaryGets, type CanaryWish} from './canary.ts'
import {pagesText} from './cors.ts'
import {bringUpSteps, modelOf, nodeSteps, prepareStep} from './server-steps.ts'
import type {TransitionKinds} from './steps.ts'

/**
 * One change of what serves: bring up, switch, drain, end. Deploy, rollback, scale and remove are all of this shape.
 */
export interface Transition {
  command: string
  endpoint: string
  /** What serves afterwards, with all its replicas. */
  release: Release
  /** Those of its replicas that do not run yet. */
  start: Replica[]
  /** Those that are only prepared: their nodes' agents start them when the head wants it. */
  prepare?: Replica[]
  /** Nodes that need an agent, for that or to tell of GPUs. */
  agents?: string[]
  /** What runs now and will not be needed. */
  stop: Replica[]
  /** Name of the head's node. */
  headNode: string
  /** The release is put beside the active one, with this part of the requests, instead of being switched to. */
  canary?: CanaryWish
  /** Requests are taken from the canary, one sentence why; `release` is the active one. */
  takeBack?: string
  /** Origins of pages that may call it from now on; undefined: as before. */
  cors?: string[]
  /** Why each node was taken or not. */
  reasons?: NodeReason[]
  /** The model has to be downloaded in any case (a new release). */
  fetch: boolean
  /** Its environment is known once its files were fetched: the model names it. */
  asksModel: boolean
  /** Of the runtime `custom`: what its nodes lack of the project. */
  before?: Step[]
  /** Of the runtime `custom`: whose code it is. */
  project?: string
}

/** How it is carried out. */
export interface TransitionRules {
  /** Seconds a server may take to become ready; undefined: its recipe's. */
  seconds: number | undefined
  /** The old release is rolled back from: later rollbacks pass it over. */
  rejectOld: boolean
}

type Step = StepOf<TransitionKinds>

/** The steps of a transition. Pure: what --dry-run prints is what is executed. */
export function transitionPlan(
  change: Transition,
  {seconds, rejectOld}: TransitionRules = {seconds: undefined, rejectOld: false},
): PlanOf<TransitionKinds> {
  const {start, prepare = [], agents = []} = change
  const nodes = [...new Set([...start, ...prepare].map((replica) => replica.node))]
  const model = modelOf(change, nodes)
  const place = nodes.flatMap((node) => nodeSteps(change, node, model, nodes.length > 1))
  const bringUp = start.flatMap((replica) => bringUpSteps(change, replica, model, seconds ?? null))
  const define = prepare.map((replica) => prepareStep(change, replica))
  const join = agents.map(agentStep)
  const ready = start.map((replica) => `ready:${replica.service}`)
  const defined = define.map(({id}) => id)
  const flip = flipStep(change, ready, defined, rejectOld, [...ready, ...defined, ...join.map(({id}) => id)])
  return {
    command: change.command,
    ...(change.reasons && {reasons: change.reasons}),
    steps: [
      ...(change.before ?? []),
      ...model.steps,
      ...place,
      ...bringUp,
      ...define,
      ...join,
      flip,
      ...endSteps(change, flip.id),
    ],
  }
}

function agentStep(node: string): Step {
  return {
    id: `agent:${node}`,
    node,
    kind: 'endpoint.agent',
    title: 'Have the node start and end model servers as the head wants, and tell it of their GPUs',
    input: {node},
    needs: [],
  }
}

/** What no longer gets requests answers those under way, and ends. */
function endSteps({endpoint, release, stop, headNode}: Transition, flipped: string): Step[] {
  if (stop.length === 0) return []
  return [
    {
      id: 'drain',
      node: headNode,
      kind: 'endpoint.drain',
      title: 'Wait until requests under way are answered',
      input: {endpoint, services: stop.map((one) => one.service), urls: stop.flatMap((one) => one.url ?? [])},
      needs: [flipped],
    },
    ...stop.map(({node, service}): Step => ({
      id: `stop:${service}`,
      node,
      kind: 'endpoint.stop',
      title: `Stop model server ${service}`,
      input: {node, service, runtime: release.runtime},
      needs: ['drain'],
    })),
  ]
}

/** What changes which releases get requests. */
function flipStep(change: Transition, started: string[], defined: string[], rejectOld: boolean, needs: string[]): Step {
  const ready = started.map((id) => fromStep(id))
  const prepared = defined.map((id) => fromStep(id))
  const {endpoint, release, canary, takeBack, cors, headNode: node} = change
  if (takeBack !== undefined) {
    const title = `Send all requests of endpoint ${endpoint} to release ${release.id}`
    return {id: 'return', node, kind: 'endpoint.return', title, input: {endpoint, reason: takeBack}, needs}
  }
  if (canary) {
    const title = `${whatCanaryGets(canary)} of endpoint ${endpoint} to release ${release.id}`
    return {
      id: 'split',
      node,
      kind: 'endpoint.split',
      title,
      input: {endpoint, release, ready, prepared, canary, ...(cors && {cors})},
      needs,
    }
  }
  const title = `Send requests of endpoint ${endpoint} to release ${release.id}${cors ? `; ${pagesText(cors)}` : ''}`
  return {
    id: 'switch',
    node,
    kind: 'endpoint.switch',
    title,
    input: {endpoint, release, ready, prepared, rejectOld, ...(cors && {cors})},
    needs,
  }
}

/** Replicas of one list that are not in the other, by service. */
export function without(replicas: Replica[], others: Replica[]): Replica[] {
  return replicas.filter(
    (replica) => !others.some((other) => other.service === replica.service && other.node === replica.node),
  )
}
