import {CliError, pinsOf, readPythonLocks, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {executePlan, throwIfFailed, valuesOf, type PlanOf, type StepOf} from '../plan/index.ts'
import {workspaceScript, type PlacedWorkspace} from '../workspace/index.ts'
import type {IsolateSpec} from '../manifest/index.ts'
import type {BoundVolume} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {OwnWish} from '../gpu/index.ts'
import type {QuotaSum} from '../head/index.ts'
import type {QuotaDesk} from '../holding/index.ts'
import type {Notebook} from './show.ts'
import {quotaStep} from './count.ts'
import {NOTEBOOK_HANDLERS, type NotebookKinds} from './steps.ts'

export interface NotebookInput {
  host: Host
  workspace: PlacedWorkspace
  /** workspace.env of the manifest. */
  env: Record<string, string>
  /** What the sandbox may have that the manifest asks for. */
  isolate: IsolateSpec | undefined
  /** Folders of the node that kernels are told of. */
  volumes: BoundVolume[]
  /** Seconds after which what does nothing is ended; 0: never. */
  idle: number
  /** Seconds after which all of it is ended. */
  lasts: number | null
  gpus: OwnWish | null
  /** Limits that count for it, and what it would come to; undefined: the rack has no quotas. */
  sums?: QuotaSum[] | undefined
}

/**
 * What has to be done for a notebook to run. Errors: NOT_FOUND where the workspace has no code or no environment. Pure.
 */
export function planNotebook({
  host,
  workspace,
  env,
  isolate,
  volumes,
  idle,
  lasts,
  gpus,
  sums,
}: NotebookInput): PlanOf<NotebookKinds> {
  const {env: entered} = workspaceScript(workspace, env, [], {volumes})
  const {environment, project} = workspace
  const image = workspace.image?.digest ?? null
  if (!environment)
    throw new CliError(
      'NOT_FOUND',
      `the workspace ${project} on ${host.node} has no Python environment, whose Python would run the cells`,
      {hint: `flexrack workspace up --on ${host.node}`},
    )
  const minor = /^3\.(\d+)/.exec(environment.python)
  if (!minor || Number(minor[1]) < 10)
    throw new CliError(
      'NODE_UNFIT',
      `the workspace ${project} has Python ${environment.python}, and kernels need 3.10 or newer`,
      {hint: 'set workspace.python in flexrack.yaml'},
    )
  // In a sandbox is all of it, so in an image's sandbox the server runs there, too.
  const serverImage = isolate ? image : null
  const [server] = pinsOf(readPythonLocks(['notebook']), ['jupyterlab'])
  const node = host.node
  const first = sums ? [quotaStep({node, project, lasts}, sums)] : []
  const needs = first.map(({id}) => id)
  const steps: StepOf<NotebookKinds>[] = [
    ...first,
    {
      id: 'server',
      node,
      kind: 'notebook.server',
      title: `Have an environment with ${server}${serverImage === null ? '' : ', of the Python of the image'}`,
      input: {node, project, image: serverImage, python: minor[0]},
      needs,
    },
    {
      id: 'kernel',
      node,
      kind: 'notebook.kernel',
      title: `Have what makes a kernel of ${image === null ? '' : "the image's "}Python ${minor[0]}, beside the project's environment`,
      input: {node, project, python: minor[0], image},
      needs,
    },
    {
      id: 'start',
      node,
      kind: 'notebook.start',
      title: `Start it ${isolate ? 'in a sandbox ' : ''}on ${workspace.code}${image === null ? '' : ', with kernels and terminals in the image'}${gpus ? `, and a kernel that leases ${gpus.text}${gpus.others.length > 0 ? `, else of ${gpus.others.map((one) => one.node).join(', ')},` : ''} while it lives` : ''}`,
      input: {
        node,
        project,
        environment: environment.path,
        idle,
        lasts,
        env: entered,
        gpus,
        inside: {image, isolate: isolate ?? null, volumes, keep: Object.keys(entered)},
      },
      needs: ['server', 'kernel'],
    },
  ]
  return {command: 'notebook start', steps}
}

/**
 * Starts it, and waits until it answers. Another one of the same workspace is ended first, with its kernels. Errors:
 * those of the steps. `place`: for GPUs of other nodes.
 */
export async function startNotebook(
  plan: PlanOf<NotebookKinds>,
  host: Host,
  context: Context,
  place?: {rack: Rack; fleet: Fleet},
  desk?: QuotaDesk,
): Promise<Notebook> {
  const outcomes = await executePlan(plan, NOTEBOOK_HANDLERS, {host, place, desk, context}, context)
  const counted = valuesOf<NotebookKinds, 'notebook.count'>(outcomes, 'notebook.count')
  const isThere = valuesOf<NotebookKinds, 'notebook.start'>(outcomes, 'notebook.start').length > 0
  if (!isThere) for (const {project, name} of counted) await desk?.release({kind: 'notebook', project}, [name])
  throwIfFailed(outcomes)
  return valuesOf<NotebookKinds, 'notebook.start'>(outcomes, 'notebook.start')[0] as Notebook
}
