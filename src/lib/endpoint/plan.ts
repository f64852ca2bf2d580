import {fromStep, type PlanOf, type StepOf} from '../plan/index.ts'
import {OWN_LEASES} from '../gpu/index.ts'
import type {NodeReason} from '../placement/index.ts'
import type {Release, Replica} from './document.ts'
import {whatCanaryGets, type CanaryWish} from './canary.ts'
import type {StartInput, TransitionKinds} from './steps.ts'

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
  /** Nodes that need an agent for that. */
  agents?: string[]
  /** What runs now and will not be needed. */
  stop: Replica[]
  /** Name of the head's node. */
  headNode: string
  /** The release is put beside the active one, with this part of the requests, instead of being switched to. */
  canary?: CanaryWish
  /** Requests are taken from the canary, one sentence why; `release` is the active one. */
  takeBack?: string
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
  const {endpoint, release, start, prepare: asleep = [], agents = [], stop, headNode} = change
  const {model, runtime} = release
  const name = `${model.name}/${model.version}`
  const nodes = [...new Set([...start, ...asleep].map((replica) => replica.node))]
  const fetch: Step[] =
    change.fetch && nodes.length > 0
      ? [
          {
            id: 'fetch',
            node: null,
            kind: 'endpoint.fetch',
            title: `Fetch model ${name}`,
            input: {model: name, runtime},
            needs: [],
          },
        ]
      : []
  const files = fetch.length > 0 ? fromStep('fetch', 'files') : model.files
  const needs = fetch.length > 0 && change.asksModel ? fromStep('fetch', 'needs') : (model.needs ?? null)
  const asked = change.asksModel ? fetch.map((one) => one.id) : []
  const prepare = nodes.flatMap((node): Step[] => [
    ...(release.custom
      ? codeSteps(change, node)
      : [
          {
            id: `environment:${node}`,
            node,
            kind: 'endpoint.environment' as const,
            title:
              `Python environment of the runtime ${runtime}` +
              (change.asksModel || model.needs ? ' and of the model' : ''),
            input: {node, endpoint, runtime, together: nodes.length > 1, needs},
            needs: asked,
          },
        ]),
    {
      id: `place:${node}`,
      node,
      kind: 'endpoint.place',
      title: `Put model ${name} into place`,
      input: {node, endpoint, release: release.id, model: name, files},
      needs: fetch.map((one) => one.id),
    },
  ])
  const inputOf = (replica: Replica): {input: StartInput; needs: string[]} => {
    const {node} = replica
    const kept = release.custom?.places[node]
    const has = release.custom ? (kept ? [] : [`code:${node}`]) : [`environment:${node}`]
    const input = {
      endpoint,
      release: release.id,
      version: model.version,
      runtime,
      replica,
      environment: release.custom ? null : fromStep(`environment:${node}`),
      code: release.custom ? (kept ?? fromStep(`code:${node}`)) : null,
      placed: fromStep(`place:${node}`),
      gpus: release.gpus ?? null,
    }
    return {input, needs: [...has, `place:${node}`]}
  }
  const bringUp = start.flatMap((replica): Step[] => {
    const {node, service} = replica
    return [
      {
        id: `start:${service}`,
        node,
        kind: 'endpoint.start',
        title: `Start model server ${service}${leasesText(release)}`,
        ...inputOf(replica),
      },
      {
        id: `ready:${service}`,
        node,
        kind: 'endpoint.ready',
        title: `Wait until ${service} is ready and answers`,
        input: {endpoint, service, runtime, started: fromStep(`start:${service}`), seconds: seconds ?? null, needs},
        needs: [`start:${service}`, ...asked],
      },
    ]
  })
  const define = asleep.map((replica): Step => ({
    id: `prepare:${replica.service}`,
    node: replica.node,
    kind: 'endpoint.prepare',
    title: `Prepare model server ${replica.service}, asleep${leasesText(release)}`,
    ...inputOf(replica),
  }))
  const join = agents.map((node): Step => ({
    id: `agent:${node}`,
    node,
    kind: 'endpoint.agent',
    title: 'Have the node start and end model servers as the head wants',
    input: {node},
    needs: [],
  }))
  const ready = start.map((replica) => `ready:${replica.service}`)
  const flip = flipStep(
    change,
    ready,
    define.map(({id}) => id),
    rejectOld,
    [...ready, ...[...define, ...join].map(({id}) => id)],
  )
  const drain: Step[] =
    stop.length === 0
      ? []
      : [
          {
            id: 'drain',
            node: headNode,
            kind: 'endpoint.drain',
            title: 'Wait until requests under way are answered',
            input: {endpoint, services: stop.map((one) => one.service), urls: stop.flatMap((one) => one.url ?? [])},
            needs: [flip.id],
          },
        ]
  const end = stop.map(({node, service}): Step => ({
    id: `stop:${service}`,
    node,
    kind: 'endpoint.stop',
    title: `Stop model server ${service}`,
    input: {node, service, runtime},
    needs: ['drain'],
  }))
  return {
    command: change.command,
    ...(change.reasons && {reasons: change.reasons}),
    steps: [...(change.before ?? []), ...fetch, ...prepare, ...bringUp, ...define, ...join, flip, ...drain, ...end],
  }
}

function leasesText({gpus}: Release): string {
  if (!gpus) return ''
  return `, which leases ${OWN_LEASES.text(gpus)}${gpus.remote ? ' of its node or of another one' : ''} while it runs`
}

/** The code of a server of the project's own is kept with the release, unless a node has it from the last time. */
function codeSteps({endpoint, release, before = [], project = ''}: Transition, node: string): Step[] {
  if (release.custom?.places[node]) return []
  return [
    {
      id: `code:${node}`,
      node,
      kind: 'endpoint.code',
      title: `Keep the code of ${project} with release ${release.id}`,
      input: {node, endpoint, release: release.id, project},
      needs: before.filter((step) => step.node === node).map((step) => step.id),
    },
  ]
}

/** What changes which releases get requests. */
function flipStep(change: Transition, started: string[], defined: string[], rejectOld: boolean, needs: string[]): Step {
  const ready = started.map((id) => fromStep(id))
  const prepared = defined.map((id) => fromStep(id))
  const {endpoint, release, canary, takeBack, headNode: node} = change
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
      input: {endpoint, release, ready, prepared, canary},
      needs,
    }
  }
  const title = `Send requests of endpoint ${endpoint} to release ${release.id}`
  return {
    id: 'switch',
    node,
    kind: 'endpoint.switch',
    title,
    input: {endpoint, release, ready, prepared, rejectOld},
    needs,
  }
}

/** Replicas of one list that are not in the other, by service. */
export function without(replicas: Replica[], others: Replica[]): Replica[] {
  return replicas.filter(
    (replica) => !others.some((other) => other.service === replica.service && other.node === replica.node),
  )
}
