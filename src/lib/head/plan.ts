import {CliError, ownVersion, pinsOf, readPythonLocks, type Context} from '../base/index.ts'
import {openHost, serviceStatus, type Host} from '../host/index.ts'
import {fromEnv, fromStep, type PlanOf, type StepOf} from '../plan/index.ts'
import type {HeadNode} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import {rebootTitle} from '../reboot/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {listenAddress} from './address.ts'
import {needsOwnNode, OLDEST_NODE, ownMachine} from './node-choice.ts'
import {loadHeadProgram, loadOwnNode, type ProgramFile} from './program.ts'
import {headLocks} from './requirements.ts'
import {placeTitle, SERVICE_ID, type HeadKinds} from './steps.ts'

/** It is started again when it ends, and given up where it ends all the time. */
const RESTART = {max: 10, windowSeconds: 300}
export const GRACE_SECONDS = 30

/** The node that runs the head, with the node program in place. */
export async function openHeadHost(rack: Rack, fleet: Fleet, context: Context): Promise<Host> {
  return openHost(fleet, headNode(rack), context)
}

export function headNode(rack: Rack): RackNode {
  const node = rack.nodes.find((one) => one.name === rack.head.node)
  if (node) return node
  throw new CliError('RACK_INVALID', `${rack.path}: head.node ${rack.head.node} is not a node of the rack`, {
    hint: `flexrack rack show ${rack.name}`,
  })
}

/**
 * What would be done: to have the head run on its node, or to end it. Looks at the node, changes nothing of the head.
 * Errors: those of openHost; NODE_UNFIT where no Node runs there.
 */
export async function planHead(
  rack: Rack,
  fleet: Fleet,
  context: Context,
  wish: 'start' | 'stop',
  graceSeconds?: number,
): Promise<PlanOf<HeadKinds>> {
  const host = await openHeadHost(rack, fleet, context)
  return wish === 'start' ? planStart(rack, host, fleet, context) : planStop(host, graceSeconds)
}

async function planStart(rack: Rack, host: Host, fleet: Fleet, context: Context): Promise<PlanOf<HeadKinds>> {
  const program = await loadHeadProgram(context)
  const inspect = (programs: string[]): Promise<HeadNode> =>
    host.call('head.inspect', {nodes: [process.execPath], oldest: OLDEST_NODE, programs})
  const there = await inspect([program.name])
  const ownNode = needsOwnNode(host.node, there, ownMachine()) ? await loadOwnNode() : undefined
  const {head} = rack
  const node = headNode(rack)
  const bind = await listenAddress(rack, node, fleet, context)
  // An address that stands for all is not one to call.
  const called = ['0.0.0.0', '::'].includes(bind) ? (node.address ?? node.host) : bind
  const place = (id: string, file: ProgramFile, executable: boolean): StepOf<HeadKinds> => ({
    id,
    node: host.node,
    kind: 'head.place',
    title: placeTitle({name: file.name, executable}),
    input: {name: file.name, sha256: file.sha256, file: file.file, executable},
    needs: [],
  })
  const places = [
    ...(there.placed.includes(program.name) ? [] : [place('program', program, false)]),
    ...(ownNode ? [place('node', ownNode, true)] : []),
  ]
  const locks = headLocks(head)
  const environment: StepOf<HeadKinds> = {
    id: 'environment',
    node: host.node,
    kind: 'head.environment',
    title: `Have an environment with ${pinsOf(readPythonLocks(locks), ['mlflow']).join()}, as locked in ${locks.join(', ')}`,
    input: {locks},
    needs: [],
  }
  const start: StepOf<HeadKinds> = {
    id: 'start',
    node: host.node,
    kind: 'head.start',
    title: `Start the head on ${bind}:${head.port || '(a free port)'}, with TLS and Node.js ${there.node?.version ?? process.version.slice(1)}${rebootTitle(there.comes_back)}`,
    input: {
      node: there.node?.path ?? `${there.folder}/program/${ownNode?.name}`,
      program: `${there.folder}/program/${program.name}`,
      config: {
        bind,
        port: head.port ?? 0,
        host: called,
        ...(head.url && {url: head.url}),
        version: await ownVersion(),
        python: fromStep('environment', 'python'),
        // They may hold a password.
        ...(head.store && {store: fromEnv('store')}),
        ...(head.artifacts && {artifacts: fromEnv('artifacts')}),
      },
      restart: RESTART,
      grace: GRACE_SECONDS,
    },
    needs: [...places.map((step) => step.id), environment.id],
  }
  return {command: 'head start', steps: [...places, environment, start]}
}

async function planStop(host: Host, graceSeconds = 20): Promise<PlanOf<HeadKinds>> {
  const {state} = await serviceStatus(host, SERVICE_ID)
  const steps: StepOf<HeadKinds>[] = ['absent', 'stopped', 'lost'].includes(state)
    ? []
    : [
        {
          id: 'stop',
          node: host.node,
          kind: 'head.stop',
          title: `End the head (${graceSeconds} s to finish what is under way)`,
          input: {grace: graceSeconds},
          needs: [],
        },
      ]
  return {command: 'head stop', steps}
}
