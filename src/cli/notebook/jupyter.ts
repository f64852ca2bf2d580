import type {Context} from '../../lib/base/index.ts'
import type {ProjectSession} from '../base/session.ts'
import {oneNode, openWorkspace} from '../workspace/nodes.ts'
import {volumesOn} from '../workspace/volumes.ts'
import {forwardNotebook} from './forward.ts'
import {IDLE_SECONDS, notebooksOf} from './open.ts'

/** What `workspace open jupyter` does: starts a notebook where none runs, then forwards it. */
export async function openJupyter(
  {on, browser, json}: {on: string | undefined; browser: boolean; json: boolean},
  session: ProjectSession,
  context: Context,
  follow: <T>(value: T, text: (value: T) => string) => void,
): Promise<void> {
  const [{notebookWish, planNotebook, startNotebook}, {openDesk}] = await Promise.all([
    import('../../lib/notebook/index.ts'),
    import('../../lib/holding/index.ts'),
  ])
  const project = session.manifest.name
  const running = (await notebooksOf(session, {project, on}, context)).find(
    (one) => one.notebook.state === 'ready' || one.notebook.state === 'starting',
  )
  if (running) return forwardNotebook(session, running.host, project, {browser, json}, follow, context)
  const {env, isolate} = session.manifest.workspace
  const {host, workspace} = await openWorkspace(session.fleet, oneNode(session.rack, on), project, context)
  const desk = await openDesk(session, context)
  await startNotebook(
    planNotebook({
      host,
      workspace,
      env,
      isolate,
      volumes: await volumesOn(host, session, context),
      idle: IDLE_SECONDS,
      lasts: null,
      gpus: null,
      sums: await desk?.sums(notebookWish(host.node, project)),
    }),
    host,
    context,
    session,
    desk,
  )
  await forwardNotebook(session, host, project, {browser, json}, follow, context)
}
