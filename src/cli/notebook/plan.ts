import type {Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import {notebookWish, planNotebook} from '../../lib/notebook/index.ts'
import {openDesk, type QuotaDesk} from '../../lib/holding/index.ts'
import {durationOf} from '../base/seconds.ts'
import type {ProjectSession} from '../base/session.ts'
import {oneNode, openWorkspace} from '../workspace/nodes.ts'
import {volumesOn} from '../workspace/volumes.ts'
import {kernelGpus} from './gpus.ts'

/** What the flags of `notebook start` say. */
export interface NotebookWords {
  on?: string | undefined
  idle: string
  for?: string | undefined
  gpus?: number | undefined
  memory?: string | undefined
  fraction?: string | undefined
  remote?: boolean | undefined
}

/**
 * What there is to do for a notebook in the project's workspace, and on which node; the steps themselves are
 * src/lib/notebook/plan.ts. Errors: USAGE, those of openWorkspace, kernelGpus and volumesOn.
 */
export async function planNotebookOf(
  flags: NotebookWords,
  session: ProjectSession,
  context: Context,
): Promise<{plan: ReturnType<typeof planNotebook>; host: Host; desk: QuotaDesk | undefined}> {
  const {manifest} = session
  const [idle, lasts] = [
    durationOf(flags.idle, '--idle'),
    flags.for === undefined ? null : durationOf(flags.for, '--for'),
  ]
  const {host, workspace} = await openWorkspace(session.fleet, oneNode(session.rack, flags.on), manifest.name, context)
  const gpus =
    flags.gpus === undefined ? null : await kernelGpus({...flags, count: flags.gpus}, session, host.node, context)
  const desk = await openDesk(session, context)
  const plan = planNotebook({
    host,
    workspace,
    env: manifest.workspace.env,
    isolate: manifest.workspace.isolate,
    volumes: await volumesOn(host, session, context),
    idle,
    lasts: lasts === 0 ? null : lasts,
    gpus,
    sums: await desk?.sums(notebookWish(host.node, manifest.name)),
  })
  return {plan, host, desk}
}
