import {CliError, LOCKED_PYTHON, readPythonLocks, type Context} from '../base/index.ts'
import {ensureEnvironment, startService, stopService, type Environment, type Host} from '../host/index.ts'
import type {IsolateSpec} from '../manifest/index.ts'
import type {Handlers, Outputs} from '../plan/index.ts'
import type {BoundVolume, NotebookPrepared} from '../protocol/index.ts'
import type {QuotaDesk} from '../holding/index.ts'
import type {Rack} from '../rack/index.ts'
import {warnOfReboot} from '../reboot/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {OWN_LEASES, type OwnWish} from '../gpu/index.ts'
import {count, type CountKinds} from './count.ts'
import {findNotebooks, type Notebook} from './show.ts'

type StartInput = {
  node: string
  project: string
  /** Path of the project's environment there. */
  environment: string
  /** Seconds; 0: never. */
  idle: number
  /** Seconds from now; null: no end. */
  lasts: number | null
  env: Record<string, string>
  gpus: OwnWish | null
  inside: {
    /** Digest. */
    image: string | null
    isolate: IsolateSpec | null
    volumes: BoundVolume[]
    /** Variables that count although the image sets them. */
    keep: string[]
  }
}

export type NotebookKinds = CountKinds & {
  /** JupyterLab, in an environment of its own; `image`: of that image's Python. */
  'notebook.server': {
    input: {node: string; project: string; image: string | null; python: string}
    output: Environment
  }
  /** What makes a kernel of the project's Python: beside its environment. */
  'notebook.kernel': {
    input: {node: string; project: string; python: string; image: string | null}
    output: Environment
  }
  'notebook.start': {input: StartInput; output: Notebook}
}

export interface NotebookEnv {
  host: Host
  /** For GPUs of other nodes. */
  place?: {rack: Rack; fleet: Fleet} | undefined
  /** Where the rack has quotas. */
  desk?: QuotaDesk | undefined
  context: Context
}

export const NOTEBOOK_HANDLERS: Handlers<NotebookKinds, NotebookEnv> = {
  'notebook.count': count,
  'notebook.server': async ({project, image, python}, _done, {host, context}) =>
    ensureEnvironment(
      host,
      {
        requirements: readPythonLocks(['notebook']),
        ...(image === null ? {python: LOCKED_PYTHON} : {image, python}),
        user: userOf(project),
      },
      context,
    ),
  'notebook.kernel': async ({project, python, image}, _done, {host, context}) =>
    ensureEnvironment(
      host,
      {requirements: readPythonLocks(['kernel']), python, ...(image !== null && {image}), user: userOf(project)},
      context,
    ),
  'notebook.start': start,
}

/** A server that starts on a busy machine, its packages not in memory, takes its time. */
const READY_MS = 120_000
const LOOK_MS = 200

async function start(
  {project, environment, idle, lasts, env, gpus, inside: {image, isolate, volumes, keep}}: StartInput,
  done: Outputs<NotebookKinds>,
  {host, place, context}: NotebookEnv,
): Promise<Notebook> {
  const [server, side] = [
    done.of('notebook.server', {$output: 'server'}),
    done.of('notebook.kernel', {$output: 'kernel'}),
  ]
  const leased =
    gpus === null
      ? undefined
      : await OWN_LEASES.prepare(
          host,
          gpus,
          {place, purpose: `notebook ${project} on ${host.node}`, who: 'a kernel'},
          context,
        )
  const inside = {
    ...(image !== null && {image}),
    ...(isolate !== null && {isolate: {...isolate}}),
    ...((image !== null || isolate !== null) && {volumes, keep}),
  }
  const end = lasts === null ? {} : {end_at: Date.now() / 1000 + lasts}
  const prepared = async (): Promise<NotebookPrepared> => {
    await stopService(host, `notebook-${project}`) // with its kernels: what it reads is written anew
    const own = {project, server: server.path, side: side.path, environment, idle}
    const parts = {...own, ...end, ...(leased && {gpus: leased.gpus}), ...inside}
    return host.call('notebook.prepare', parts, {signal: context.signal})
  }
  const {id, argv, cwd} = await prepared().catch(async (error: unknown) => {
    await leased?.end()
    throw error
  })
  const {comesBack} = await startService(
    host,
    {id, argv, cwd, env, restart: {max: 5, windowSeconds: 120}, grace: 10},
    {replace: true},
  )
  warnOfReboot(host.node, 'the notebook', comesBack, context)
  return untilReady(host, project, context)
}

/** Errors: TIMED_OUT, REMOTE_FAILED where it has given up; both with the way to its log. */
async function untilReady(host: Host, project: string, context: Context): Promise<Notebook> {
  const progress = context.reporter.begin('Start the server of notebooks', host.node)
  const until = Date.now() + READY_MS
  try {
    for (;;) {
      const [found] = await findNotebooks(host, project, context)
      if (found?.state === 'ready') {
        progress.done('The notebook is ready')
        return found
      }
      const hint = `flexrack notebook logs ${project} --on ${host.node}`
      if (found?.state === 'failed')
        throw new CliError('REMOTE_FAILED', `the server of notebooks on ${host.node} ended again and again`, {
          hint,
          details: {node: host.node},
        })
      if (Date.now() > until)
        throw new CliError(
          'TIMED_OUT',
          `the server of notebooks on ${host.node} did not answer in ${READY_MS / 1000} s`,
          {hint, details: {node: host.node}},
        )
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      context.signal.throwIfAborted()
    }
  } catch (error) {
    progress.fail()
    throw error
  }
}

function userOf(project: string): string {
  return `notebook:${project}`
}
