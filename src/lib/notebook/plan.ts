import {CliError, pinsOf, readPythonLocks, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {executePlan, throwIfFailed, valuesOf, type PlanOf, type StepOf} from '../plan/index.ts'
import {workspaceScript, type PlacedWorkspace} from '../workspace/index.ts'
import type {BoundVolume} from '../protocol/index.ts'
import type {KernelGpus} from './gpus.ts'
import type {Notebook} from './show.ts'
import {NOTEBOOK_HANDLERS, type NotebookKinds} from './steps.ts'

export interface NotebookInput {
  host: Host
  workspace: PlacedWorkspace
  /** workspace.env of the manifest. */
  env: Record<string, string>
  /** The manifest asks for a sandbox. */
  isolate: boolean
  /** Folders of the node that kernels are told of. */
  volumes: BoundVolume[]
  /** Seconds after which what does nothing is ended; 0: never. */
  idle: number
  /** Seconds after which all of it is ended. */
  lasts: number | null
  gpus: KernelGpus | null
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
}: NotebookInput): PlanOf<NotebookKinds> {
  const {env: entered} = workspaceScript(workspace, env, [], {volumes})
  const {environment, project, image} = workspace
  if (image || isolate)
    throw new CliError(
      'NODE_UNFIT',
      `kernels run on ${host.node} itself, and the workspace ${project} is to run ${image ? 'in an image' : 'in a sandbox'}`,
      {hint: `flexrack workspace exec -- ...`},
    )
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
  const [server] = pinsOf(readPythonLocks(['notebook']), ['jupyterlab'])
  const node = host.node
  const steps: StepOf<NotebookKinds>[] = [
    {
      id: 'server',
      node,
      kind: 'notebook.server',
      title: `Have an environment with ${server}`,
      input: {node, project},
      needs: [],
    },
    {
      id: 'kernel',
      node,
      kind: 'notebook.kernel',
      title: `Have what makes a kernel of Python ${minor[0]}, beside the project's environment`,
      input: {node, project, python: minor[0]},
      needs: [],
    },
    {
      id: 'start',
      node,
      kind: 'notebook.start',
      title: `Start it on ${workspace.code}${gpus ? `, and a kernel that leases ${gpus.text} while it lives` : ''}`,
      input: {node, project, environment: environment.path, idle, lasts, env: entered, gpus},
      needs: ['server', 'kernel'],
    },
  ]
  return {command: 'notebook start', steps}
}

/**
 * Starts it, and waits until it answers. Another one of the same workspace is ended first, with its kernels. Errors:
 * those of the steps.
 */
export async function startNotebook(plan: PlanOf<NotebookKinds>, host: Host, context: Context): Promise<Notebook> {
  const outcomes = await executePlan(plan, NOTEBOOK_HANDLERS, {host, context}, context)
  throwIfFailed(outcomes)
  return valuesOf<NotebookKinds, 'notebook.start'>(outcomes, 'notebook.start')[0] as Notebook
}
