import {isCliError, ownVersion, pinsOf, readPythonLocks, type Context} from '../base/index.ts'
import {serviceStatus, type Host} from '../host/index.ts'
import {fromEnv, fromStep, type PlanOf, type StepOf} from '../plan/index.ts'
import type {HeadNode, ServiceSocket} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import {rebootTitle} from '../reboot/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {listenAddress, standbyAddress} from './address.ts'
import {needsOwnNode, OLDEST_NODE, ownMachine} from './node-choice.ts'
import {areNear, calledBy, headNode, openHeadHost, SERVICE_ID} from './places.ts'
import {planSwap, swapped} from './promote.ts'
import {loadHeadProgram, loadOwnNode, type ProgramFile} from './program.ts'
import {headLocks} from './requirements.ts'
import {placeTitle, type HeadKinds} from './steps.ts'
import {HEAD_FILES} from './types.ts'

/** It is started again when it ends, and given up where it ends all the time. */
const RESTART = {max: 10, windowSeconds: 300}
export const GRACE_SECONDS = 30

type Step = StepOf<HeadKinds>

/**
 * What would be done: to have the head run on its node, and a standby where the rack file names one; to end them; or to
 * have the standby be the head. Looks at the nodes, changes nothing. Errors: those of openHost; NODE_UNFIT where no Node
 * runs there.
 */
export async function planHead(
  rack: Rack,
  fleet: Fleet,
  context: Context,
  wish: 'start' | 'stop' | 'promote',
  options: StopOptions = {},
): Promise<PlanOf<HeadKinds>> {
  const standby = rack.head.standby !== undefined && !options.firstOnly
  if (wish === 'promote') {
    const change = await planSwap(rack, fleet, context)
    const start = await planStart(swapped(rack), fleet, context)
    const after = start.map((step) => ({...step, needs: step.needs.length > 0 ? step.needs : [change.id]}))
    return {command: 'head promote', steps: [change, ...after]}
  }
  if (wish === 'start') {
    const first = await planStart(rack, fleet, context)
    const second = standby
      ? await planStandby(rack, fleet, context).catch((error) => without(error, rack, context))
      : []
    return {command: 'head start', steps: [...first, ...second]}
  }
  const first = await planStop(await openHeadHost(rack, fleet, context), options)
  const second = standby ? await planStop(await openHeadHost(rack, fleet, context, 'standby'), options, 'standby:') : []
  return {command: 'head stop', steps: [...first, ...second]}
}

/** The head does not wait for a standby whose node is away. */
function without(error: unknown, rack: Rack, {reporter}: Context): Step[] {
  if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
  reporter.warn(`the standby is left as it is, as its node ${rack.head.standby} is away: ${error.message}`)
  return []
}

/** What a node has and lacks of the head's program, and Node for it. */
async function planPrograms(
  host: Host,
  context: Context,
  prefix: string,
): Promise<{places: Step[]; there: HeadNode; node: string; program: string; version: string}> {
  const program = await loadHeadProgram(context)
  const there = await host.call('head.inspect', {
    nodes: [process.execPath],
    oldest: OLDEST_NODE,
    programs: [program.name],
  })
  const ownNode = needsOwnNode(host.node, there, ownMachine()) ? await loadOwnNode() : undefined
  const place = (id: string, {name, sha256, file}: ProgramFile, executable: boolean): Step => ({
    id: prefix + id,
    node: host.node,
    kind: 'head.place',
    title: placeTitle({name, executable}),
    input: {node: host.node, name, sha256, file, executable},
    needs: [],
  })
  return {
    places: [
      ...(there.placed.includes(program.name) ? [] : [place('program', program, false)]),
      ...(ownNode ? [place('node', ownNode, true)] : []),
    ],
    there,
    node: there.node?.path ?? `${there.folder}/program/${ownNode?.name}`,
    program: `${there.folder}/program/${program.name}`,
    version: there.node?.version ?? process.version.slice(1),
  }
}

async function planStart(rack: Rack, fleet: Fleet, context: Context): Promise<Step[]> {
  const {head} = rack
  const host = await openHeadHost(rack, fleet, context)
  const {places, there, node, program, version} = await planPrograms(host, context, '')
  const bind = await listenAddress(rack, headNode(rack), fleet, context)
  const locks = headLocks(head)
  const environment: Step = {
    id: 'environment',
    node: host.node,
    kind: 'head.environment',
    title: `Have an environment with ${pinsOf(readPythonLocks(locks), ['mlflow']).join()}, as locked in ${locks.join(', ')}`,
    input: {node: host.node, locks},
    needs: [],
  }
  const start: Step = {
    id: 'start',
    node: host.node,
    kind: 'head.start',
    title: `Start the head on ${bind}:${head.port || '(a free port)'}, with TLS and Node.js ${version}${rebootTitle(there.comes_back)}`,
    input: {
      on: host.node,
      node,
      program,
      config: {
        bind,
        port: head.port ?? 0,
        host: calledBy(headNode(rack), bind),
        ...(head.url && {url: head.url}),
        ...(head.names && {names: head.names}),
        version: await ownVersion(),
        python: fromStep('environment', 'python'),
        // They may hold a password.
        ...(head.store && {store: fromEnv('store')}),
        ...(head.artifacts && {artifacts: fromEnv('artifacts')}),
      },
      sockets: socketsOf(there.folder, bind, head.port ?? 0),
      restart: RESTART,
      grace: GRACE_SECONDS,
    },
    needs: [...places.map((step) => step.id), environment.id],
  }
  return [...places, environment, start]
}

/** A standby is the same program, on another node and without MLflow. */
async function planStandby(rack: Rack, fleet: Fleet, context: Context): Promise<Step[]> {
  const {head} = rack
  const [first, own] = [headNode(rack), headNode(rack, 'standby')]
  const host = await openHeadHost(rack, fleet, context, 'standby')
  const {places, there, node, program, version} = await planPrograms(host, context, 'standby:')
  const near = areNear(first, own)
  const [bind, firstBind] = await Promise.all([
    standbyAddress(rack, fleet, context),
    listenAddress(rack, first, fleet, context),
  ])
  const called = calledBy(own, bind)
  const names = [...new Set([called, ...(near ? ['127.0.0.1', 'localhost'] : []), ...(head.names ?? [])])]
  const enrol: Step = {
    id: 'standby:enrol',
    node: host.node,
    kind: 'head.enrol',
    title: `Have the standby follow the head on ${first.name}, with a token that opens nothing else`,
    input: {node: host.node, names, called: bracketed(calledBy(first, firstBind))},
    needs: ['start'],
  }
  // Two on one machine cannot have the same port.
  const port = near ? 0 : (head.port ?? 0)
  const start: Step = {
    id: 'standby:start',
    node: host.node,
    kind: 'head.start',
    title: `Start the standby on ${bind}:${port || '(a free port)'}, with TLS and Node.js ${version}${rebootTitle(there.comes_back)}`,
    input: {
      on: host.node,
      node,
      program,
      config: {
        bind,
        port,
        host: called,
        ...(head.names && {names: head.names}),
        version: await ownVersion(),
        python: '',
        follow: {url: fromStep(enrol.id, 'url'), ca: fromStep(enrol.id, 'ca'), node: first.name, near},
      },
      sockets: socketsOf(there.folder, bind, port),
      restart: RESTART,
      grace: GRACE_SECONDS,
    },
    needs: [...places.map((step) => step.id), enrol.id],
  }
  return [...places, enrol, start]
}

/** Its own two, in the order in which it takes them (service/tls/listeners.ts); on the ports that nodes know. */
function socketsOf(folder: string, bind: string, port: number): ServiceSocket[] {
  const file = `${folder}/${HEAD_FILES.listener}`
  return [
    {host: bind, port, last: {file, key: 'port'}},
    {host: '127.0.0.1', port: 0, last: {file, key: 'plainPort'}},
  ]
}

export interface StopOptions {
  graceSeconds?: number
  /** A standby goes on. */
  firstOnly?: boolean
}

async function planStop(host: Host, {graceSeconds = 20}: StopOptions, prefix = ''): Promise<Step[]> {
  const {state} = await serviceStatus(host, SERVICE_ID)
  if (['absent', 'stopped', 'lost'].includes(state)) return []
  const what = prefix === '' ? 'head' : 'standby'
  return [
    {
      id: `${prefix}stop`,
      node: host.node,
      kind: 'head.stop',
      title: `End the ${what} (${graceSeconds} s to finish what is under way)`,
      input: {node: host.node, grace: graceSeconds},
      needs: [],
    },
  ]
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
