import {createReadStream} from 'node:fs'
import {join} from 'node:path'
import {Readable} from 'node:stream'
import {CliError, isCliError} from '../base/index.ts'
import {
  ensureEnvironment,
  followServiceLog,
  serviceStatus,
  startService,
  type Environment,
  type Host,
} from '../host/index.ts'
import {askRoute} from '../route/index.ts'
import type {ServiceFront} from '../protocol/index.ts'
import {rangeOf, renderRecipe, worksWith, type Recipe, type RenderedRecipe} from '../recipe/index.ts'
import {warnOfReboot} from '../reboot/index.ts'
import {startOf, type CodePlace, type CustomServer} from './custom.ts'
import type {ModelFile, ModelNeeds, Replica} from './document.ts'
import type {ServerGpus} from './needs.ts'
import {leasesOf} from './leases.ts'
import type {FetchedModel} from './model-files.ts'
import {isNearHead, LOOPBACK, serverAddress, serverUrl} from './placement.ts'
import {waitReady, type Waiting} from './ready.ts'
import {warnOfStandby} from './standby-reach.ts'
import {hostOf, nodeOf, type Site} from './site.ts'

const LAST_LINES = 30

/** A server that was started, and where it listens on its node's loopback. */
export interface Started {
  replica: Replica
  port: number
  rendered: RenderedRecipe
  /** Milliseconds since 1970: when it was told to start. */
  begunAt: number
  /** Seconds until it was ready; known once it is. */
  seconds?: number
  /** Of its model. */
  files: ModelFile[]
  needs?: ModelNeeds
  /** Where its code lies, if it is the project's own. */
  place?: CodePlace
}

/** A model's files as they lie on a node, with the one the server is given first. */
export interface PlacedModel {
  folder: string
  files: ModelFile[]
}

/**
 * The recipe's environment on a node, under a Python it accepts: one of the node, else uv installs
 * one. Errors: those of ensureEnvironment.
 */
export async function prepareEnvironment(
  site: Site,
  node: string,
  endpoint: string,
  recipe: Recipe,
  together: boolean,
  needs: ModelNeeds | undefined,
): Promise<Environment> {
  const host = await hostOf(site, node)
  const python = needs?.python
  if (python !== undefined && !worksWith(recipe.python, python)) {
    const message =
      `the model was made with Python ${python}, ` +
      `and the runtime ${recipe.name} works with ${rangeOf(recipe.python)}`
    throw new CliError('ENVIRONMENT_FAILED', message, {
      hint: 'log the model with such a Python, or make a recipe of your own (docs/runtimes.md)',
    })
  }
  const texts: [origin: string, text: string][] = [
    [`runtimes/${recipe.name}/requirements.txt`, recipe.requirements],
    ...(needs ? [['requirements.txt of the model', needs.requirements] as [string, string]] : []),
  ]
  return ensureEnvironment(
    host,
    {
      requirements: texts.map(([, text]) => text.replace(/\n?$/, '\n')).join(''),
      origins: texts.flatMap(([origin, text]) =>
        text
          .replace(/\n$/, '')
          .split('\n')
          .map((_, index) => `${origin}:${index + 1}`),
      ),
      user: `endpoint:${endpoint}`,
      python: python ?? rangeOf(recipe.python),
      together,
    },
    site.context,
  )
}

/** Puts the model's files on a node unless they are there whole. */
export async function placeModel(
  site: Site,
  node: string,
  {endpoint, release, model, files: wanted}: {endpoint: string; release: string; model: string; files: ModelFile[]},
  fetch: () => Promise<FetchedModel>,
): Promise<PlacedModel> {
  const host = await hostOf(site, node)
  const name = {name: endpoint, release}
  const known = await host.call('endpoint.check', {...name, files: wanted})
  if (known.complete) return {folder: known.folder, files: wanted}
  const {folder, files} = await fetch()
  const total = files.reduce((sum, file) => sum + file.bytes, 0)
  const progress = site.context.reporter.begin(`Copy model ${model}`, node)
  let sent = 0
  const body = Readable.from(
    (async function* () {
      for (const file of files) {
        for await (const chunk of createReadStream(join(folder, file.path))) {
          sent += (chunk as Buffer).length
          progress.amount(sent, total, 'bytes')
          yield chunk as Buffer
        }
      }
    })(),
    {objectMode: false},
  )
  try {
    const placed = await host.call('endpoint.place', {...name, files}, {body, signal: site.context.signal})
    progress.done()
    return {folder: placed.folder, files}
  } catch (error) {
    progress.fail()
    throw error
  }
}

/**
 * Writes the server's files, finds it ports and starts it, or has it defined only, for its node's agent to start.
 * `taken`: ports that others of this endpoint have or will have.
 */
export async function startReplica(
  site: Site,
  input: {
    endpoint: string
    release: string
    version: string
    replica: Replica
    recipe: Recipe
    /** Its folder; undefined: a project's own server without one. */
    environment: string | undefined
    /** A server of the project's own. */
    own?: {server: CustomServer; place: CodePlace}
    model: PlacedModel
    taken: Set<number>
    gpus?: ServerGpus
    define?: boolean
  },
): Promise<Started> {
  const {endpoint, release, version, replica, recipe, environment, own, model, taken, gpus, define = false} = input
  const host = await hostOf(site, replica.node)
  const ports = await host.call('endpoint.ports', {count: recipe.ports.length, host: LOOPBACK, exclude: [...taken]})
  for (const port of ports) taken.add(port)
  const [first] = ports
  const [main] = model.files
  if (first === undefined || !main) throw new Error('no port or no model file')
  const folder = `${host.root}/endpoints/${endpoint}/${release}/replica-${replica.index}`
  const rendered = renderRecipe(recipe, {
    python: environment === undefined ? 'python3' : `${environment}/bin/python`,
    environment: environment ?? '',
    folder,
    host: LOOPBACK,
    ports: Object.fromEntries(recipe.ports.map((name, index) => [name, ports[index] ?? 0])),
    model: endpoint,
    version,
    modelFile: `${model.folder}/${main.path}`,
    modelFolder: model.folder,
  })
  await host.call('endpoint.write', {name: endpoint, release, replica: replica.index, files: rendered.files})
  const front = isNearHead(site.rack, nodeOf(site, replica.node))
    ? undefined
    : await makeFront(site, host, first, taken)
  const program = own
    ? startOf(rendered, own.server, own.place, {read: [model.folder], write: [folder]}, gpus !== undefined)
    : rendered
  const leased = gpus && (await leasesOf(site, host, replica, gpus))
  const begunAt = Date.now()
  const {comesBack} = await startService(
    host,
    {
      ...(leased && {gpus: leased.gpus}),
      id: replica.service,
      argv: program.argv,
      env: program.env,
      cwd: folder,
      restart: recipe.start.restart,
      grace: recipe.graceSeconds,
      ...(front && {front}),
      onDemand: true,
      ports: [...ports, ...(front ? [front.listen[1]] : [])],
    },
    {replace: true, define},
  ).catch(async (error: unknown) => {
    await leased?.end()
    throw error
  })
  if (!define) warnOfReboot(host.node, 'a model server', comesBack, site.context)
  const [address, port] = front?.listen ?? [LOOPBACK, first]
  return {
    replica: {...replica, url: serverUrl(address, port, front !== undefined)},
    port: first,
    begunAt,
    rendered,
    files: model.files,
    ...(own && {place: own.place}),
  }
}

/**
 * What lets the head in from its machine, and nobody else: a port of its own and a certificate of the rack's authority.
 */
async function makeFront(site: Site, host: Host, port: number, taken: Set<number>): Promise<ServiceFront> {
  const node = nodeOf(site, host.node)
  const to = site.rack.head.url === undefined ? new URL(site.head.nodeUri).hostname.replace(/^\[|\]$/g, '') : undefined
  const route = node.address === undefined && to !== undefined ? (await askRoute(host, to)).source : undefined
  const address = serverAddress(site.rack, node, route)
  const [free] = await host.call('endpoint.ports', {count: 1, host: address, exclude: [...taken]})
  if (free === undefined) throw new Error('no port')
  taken.add(free)
  const identity = await site.head.request<{key: string; certificate: string; ca: string}>(
    'POST',
    '/flexrack/v1/certificates',
    // Beside a head it has a name of its own: what is signed for the address is the head.
    [site.rack.head.node, site.rack.head.standby].includes(host.node) ? {front: address} : {names: [address]},
  )
  return {listen: [address, free], to: [LOOPBACK, port], ...identity}
}

/** Waits for a started server, and then for the head to reach it. A failure carries the server's last lines. */
export async function awaitReplica(
  site: Site,
  started: Started,
  endpoint: string,
  asked: Pick<Waiting, 'seconds' | 'protocol' | 'example'>,
): Promise<void> {
  const {replica, port, rendered} = started
  const progress = site.context.reporter.begin(`Start ${replica.service}`, replica.node)
  const host = await hostOf(site, replica.node)
  try {
    const forward = await host.shell.forwardLocal({targetPort: port})
    try {
      await waitReady({
        base: `http://127.0.0.1:${forward.port}`,
        model: endpoint,
        readyPath: rendered.readyPath,
        ...asked,
        progress,
        signal: site.context.signal,
        status: () => serviceStatus(host, replica.service),
      })
    } finally {
      await forward.close()
    }
    await requireReach(site, replica, rendered.readyPath)
    progress.done(`${replica.service} is ready`)
  } catch (error) {
    progress.fail()
    if (!isCliError(error, 'ENDPOINT_FAILED', 'TIMED_OUT')) throw error
    const lines = await lastLines(host, replica.service)
    throw new CliError(error.code, `${replica.node}: ${error.message}`, {
      hint: error.hint,
      details: {...error.details, node: replica.node, lines},
      cause: error,
    })
  }
}

/** The head asks the server itself: what is ready on its node may still be behind a firewall. */
async function requireReach(site: Site, {url, node}: Replica, path: string): Promise<void> {
  const {reached, why} = await site.head.request<{reached: boolean; why?: string}>('POST', '/flexrack/v1/reach', {
    url,
    path,
  })
  if (reached) return warnOfStandby(site, {url, node}, path)
  const head = site.rack.head.node
  throw new CliError('ENDPOINT_FAILED', `the head (${head}) does not reach the model server at ${url}: ${why}`, {
    hint:
      `let ${head} connect to ports 18000 to 31999 of ${node}, ` + `or set the node's \`address\` in ${site.rack.path}`,
  })
}

async function lastLines(host: Host, service: string): Promise<string[]> {
  const chunks: Buffer[] = []
  try {
    await followServiceLog(host, service, {tail: 16 * 1024, onData: (chunk) => chunks.push(chunk)})
  } catch {
    return []
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-LAST_LINES)
}
