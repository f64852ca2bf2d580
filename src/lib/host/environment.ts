import {CliError, isCliError, ownerName, randomId, type Context, type Progress} from '../base/index.ts'
import type {
  DownloadWay,
  EnvironmentMade,
  ProjectToInstall,
  ToolMissing,
  UvOrder,
  Verbs,
  WaitingEvent,
} from '../protocol/index.ts'
import type {Environment, Host} from './types.ts'
import {withDownloads} from './network.ts'
import {bringUv, uvOrder} from './uv.ts'

/** Tells this command from every other one, on all nodes. */
const COMMAND = `${process.pid}-${randomId()}`

/** What a Python environment is made from. The same content gives the same environment, whoever asks. */
export interface EnvironmentInput {
  /**
   * Text of a requirements file; relative paths and -r/-c lines are already resolved. Empty: an environment without
   * packages.
   */
  requirements: string
  /** Text of a constraints file. */
  constraints?: string
  /**
   * Python version (3.11) or range (>=3.11,<3.13), which uv installs where the node has none; or a name or path there;
   * the node's python3 by default.
   */
  python?: string
  /** Digest of an image that is there: made of its Python, for programs in it. */
  image?: string
  /** Installed itself, from its workspace there; its code has to be there already. */
  project?: ProjectToInstall
  /**
   * Text of a constraints file: the versions that another node has. The environment is the same with or without them.
   */
  pins?: string
  /**
   * Other nodes get the same at the same time: where they download through this machine, what one has the others get
   * from it.
   */
  together?: boolean
  /** What uses it from now on, which keeps it from being removed: `workspace:digits`, `head`, `endpoint:digits`. */
  user?: string
  /** Where each line of `requirements` comes from, e.g. `requirements.txt:3`; shown when that line fails. */
  origins?: string[]
}

/**
 * Makes sure the environment is on the node: built once per content under a lock, else found there. uv builds it; where
 * neither this machine nor the node can get that, pip does, and it is told. Errors: ENVIRONMENT_FAILED with details
 * {requirement, line, origin, lines}; NODE_UNFIT (no venv, disk full); INTERRUPTED, after which the node ends the build
 * and removes what there was of it.
 */
export async function ensureEnvironment(host: Host, input: EnvironmentInput, context: Context): Promise<Environment> {
  const {origins, ...request} = input
  const progress = new BuildProgress(host, context)
  try {
    const built = await buildWith(host, request, progress, context)
    progress.end(`Environment ${built.hash} ${built.built ? 'built' : 'is there'}`)
    return built
  } catch (error) {
    progress.fail()
    throw locate(error, origins)
  }
}

/**
 * The versions that the environment has on this node, or would get there, as a constraints file; with `universal` (the
 * oldest Python, `3.11`) a lock file for every platform. Undefined where there is no uv. Errors: those of
 * ensureEnvironment.
 */
async function chooseVersions(
  host: Host,
  {origins, ...input}: EnvironmentInput & {universal?: string},
  context: Context,
): Promise<string | undefined> {
  const {requirements, constraints, python, project, universal} = input
  const progress = new BuildProgress(host, context, 'Choose the versions of packages')
  const wanted = {
    requirements,
    ...(constraints !== undefined && {constraints}),
    ...(python !== undefined && {python}),
    ...(project && {project}),
    ...(universal !== undefined && {universal}),
  }
  try {
    const {pins} = await withDownloads(host, input, context, (way) =>
      withUv(host, context, way, (uv) =>
        host.call(
          'environment.resolve',
          {...wanted, ...way, uv},
          {signal: context.signal, onEvent: (event) => progress.tell(event)},
        ),
      ),
    )
    progress.end('Versions chosen')
    return pins ?? undefined
  } catch (error) {
    progress.fail()
    throw locate(error, origins)
  }
}

/** Versions apart from environments: `choose` asks a node for them. */
export const VERSIONS = {choose: chooseVersions}

async function buildWith(
  host: Host,
  {together = false, ...input}: Omit<EnvironmentInput, 'origins'>,
  progress: BuildProgress,
  context: Context,
): Promise<EnvironmentMade> {
  const more = {owner: ownerName(context), asker: {command: COMMAND, node: host.node}}
  return withDownloads(host, {...input, together}, context, (way) =>
    withUv(host, context, way, (uv) =>
      host.call(
        'environment.ensure',
        {...input, ...way, uv, ...more},
        {signal: context.signal, onEvent: (event) => progress.tell(event)},
      ),
    ),
  )
}

/**
 * The first node of this command to which uv is sent, by where environments are there: others with that folder may
 * share it.
 */
const sending = new Map<string, Promise<unknown>>()

/** Asks a second time where uv has to be sent first, or cannot be. */
async function withUv<T extends object>(
  host: Host,
  context: Context,
  {download}: {download?: DownloadWay},
  ask: (uv: UvOrder) => Promise<T | ToolMissing>,
): Promise<T> {
  const first = await ask(uvOrder())
  if (!('missing' in first)) return first
  const place = `${first.machine} ${host.environments}`
  const earlier = download?.mirrored ? undefined : sending.get(place)
  if (earlier) {
    await earlier
    const there = await ask(uvOrder())
    if (!('missing' in there)) return there
  }
  const coming = bringUv(host, first.machine, context, download?.mirrored ? download.proxy : undefined)
  if (!earlier)
    sending.set(
      place,
      coming.catch(() => {}),
    )
  const without = await coming.then(
    () => '',
    (error: unknown) => {
      if (context.signal.aborted) throw error
      return (error as Error).message
    },
  )
  const second = await ask({...uvOrder(), ...(without && {without})})
  if ('missing' in second)
    throw new CliError('REMOTE_FAILED', `${host.node}: uv was sent, and is not there`, {details: {node: host.node}})
  return second
}

/** Begins only when the node has something to tell: an environment that is there costs one quiet call. */
class BuildProgress {
  readonly #host: Host
  readonly #context: Context
  readonly #title: string
  #shown: Progress | undefined

  constructor(host: Host, context: Context, title = 'Build the Python environment') {
    this.#host = host
    this.#context = context
    this.#title = title
  }

  tell(event: Verbs['environment.ensure']['event']): void {
    if (event.event === 'alive') return
    if (event.event === 'warning') {
      this.#context.reporter.warn(`${this.#host.node}: ${event.text}`)
      return
    }
    this.#shown ??= this.#context.reporter.begin(this.#title, this.#host.node)
    if (event.event === 'waiting') this.#shown.detail(waitingText(event), {seldom: true})
    else if (event.detail !== undefined) this.#shown.detail(event.detail)
    else if (event.done !== undefined) this.#shown.amount(event.done, event.total, 'bytes')
  }

  end(text: string): void {
    this.#shown?.done(text)
  }

  fail(): void {
    this.#shown?.fail()
  }
}

/** Who builds it now: another node for this very command, where they share their environments, or somebody else. */
function waitingText({holder: {asker}, text}: WaitingEvent): string {
  return asker?.command === COMMAND ? `waiting for ${asker.node}, which builds it for this command` : text
}

/** Names the line of the user's own file. */
function locate(error: unknown, origins: string[] | undefined): unknown {
  if (!isCliError(error, 'ENVIRONMENT_FAILED')) return error
  const {line, requirement} = error.details
  const origin = typeof line === 'number' ? origins?.[line - 1] : undefined
  const message = origin ? error.message.replace(/\(line \d+\)/, `(${origin})`) : error.message
  return new CliError('ENVIRONMENT_FAILED', message, {
    hint:
      error.hint ??
      (typeof requirement === 'string' && origin ? `change ${origin}, then run the command again` : undefined),
    details: {...error.details, ...(origin && {origin})},
    cause: error,
  })
}
