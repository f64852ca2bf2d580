import {CliError, ownerName, sizeText, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Api, OwnLeases} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {isSoftware} from './drivers.ts'
import {passesFor} from './passes.ts'
import {prepareOwn} from './site.ts'
import {readGpuNodes} from './state.ts'
import type {GpuRequest} from './types.ts'

/** What a process of a node leases by itself whenever it starts: a kernel of a notebook, a model server. */
export interface OwnWish extends GpuRequest {
  api: Api
  /** All of them are GPUs in software. */
  software: boolean
  /** GPUs of this API that its node shares, and each other node of which it may lease as well. */
  own: number
  others: {node: string; devices: number}[]
  /** For people: `1 GPU with 2 GiB`. */
  text: string
}

interface Place {
  rack: Rack
  fleet: Fleet
}

/**
 * A request as what a process on a node leases of its own node's daemon, with `remote` of other nodes', too. `who`: `a
 * kernel`. Errors: GPU_UNAVAILABLE where these share none, or too few.
 */
async function ownWish(
  {rack, fleet}: Place,
  request: GpuRequest,
  {node, remote, who}: {node: string; remote: boolean; who: string},
  context: Context,
): Promise<OwnWish> {
  const nodes = remote ? rack.nodes : rack.nodes.filter((one) => one.name === node)
  const devices = (await readGpuNodes(nodes, fleet, context)).flatMap(({value}) => value?.devices ?? [])
  const api = request.api ?? (devices.some((one) => one.api === 'cuda') ? 'cuda' : 'opencl')
  const fitting = devices.filter((one) => one.api === api)
  if (fitting.length < request.count) {
    const shared = `${remote ? `rack ${rack.name}` : node} shares ${numberOf(fitting.length)}`
    throw new CliError(
      'GPU_UNAVAILABLE',
      `${shared}, and ${who} is to lease ${request.count}${remote ? '' : `: without "remote" it leases of its own node`}`,
      {hint: `flexrack gpu serve ${node}`, details: {node}},
    )
  }
  const byNode = Map.groupBy(fitting, (one) => one.node)
  return {
    ...request,
    api,
    software: isSoftware([{devices: fitting}]),
    own: byNode.get(node)?.length ?? 0,
    others: [...byNode].filter(([name]) => name !== node).map(([name, own]) => ({node: name, devices: own.length})),
    text: textOf(request),
  }
}

/** `2 GPUs with 2 GiB`, `1 GPU by 0.25`. */
function textOf({count, memory, fraction}: GpuRequest): string {
  if (memory !== undefined) return `${numberOf(count)} with ${sizeText(memory)}`
  return `${numberOf(count)}${fraction === undefined ? '' : ` by ${fraction}`}`
}

function numberOf(count: number): string {
  return `${count} GPU${count === 1 ? '' : 's'}`
}

/**
 * What the node needs to lease without us: the drivers are put there, and their names told; other nodes give it passes.
 * `end` where nobody begins to use them. Errors: NATIVE_MISSING, NODE_UNFIT where too few nodes let it in, those of the
 * node.
 */
async function ownLeases(
  host: Host,
  {count, memory, fraction, cap, oversubscribe, api, software, own, others, text}: OwnWish,
  {
    place,
    purpose,
    who,
    devices = [],
  }: {
    place: Place | undefined
    purpose: string
    who: string
    /** Of the node: taken before others, if they are free. */
    devices?: string[]
  },
  context: Context,
): Promise<{gpus: OwnLeases; end(): Promise<void>}> {
  const share: Record<string, number | boolean> = {
    ...(fraction !== undefined && fraction < 1 ? {fraction} : memory !== undefined ? {memory} : {whole: true}),
    ...(oversubscribe && {oversubscribe}),
  }
  const {keeper, icd, libraries} = await prepareOwn(host, api, software, context)
  const order = {count, share, cap: cap ?? false, api, text, purpose}
  const first = devices.length > 0 && {devices}
  const gpus = {...order, ...first, owner: ownerName(context), keeper, icd, libraries}
  if (others.length === 0 || place === undefined) return {gpus, end: async () => {}}
  const passes = await passesFor(place, {host, nodes: others.map(({node}) => node), order, who}, context)
  const reached = new Set(passes.places.map(({node}) => node))
  const has = others.reduce((sum, {node, devices}) => sum + (reached.has(node) ? devices : 0), own)
  if (has < count) {
    await passes.end()
    throw new CliError(
      'NODE_UNFIT',
      `${host.node} itself reaches ${has} of the ${count} GPUs that ${who} is to lease`,
      {hint: 'gpu: {bind: ...} in the rack file, then: flexrack gpu serve', details: {node: host.node}},
    )
  }
  return {gpus: {...gpus, places: passes.places}, end: () => passes.end()}
}

/** For who leases when nobody types: what to ask for, what that is called, and what its node needs for it. */
export const OWN_LEASES = {wish: ownWish, text: textOf, prepare: ownLeases, passes: passesFor}
