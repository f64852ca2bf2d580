import type {Context} from '../../lib/base/index.ts'
import {atClose} from '../base/context.ts'
import {waitSeconds, type GpuFlags} from '../gpu/request.ts'
import {exitStatus, runAttached, runCaptured} from '../base/remote-run.ts'
import type {ProjectSession} from '../base/session.ts'
import type {NodeResult} from './exec.ts'
import {oneNode, openWorkspace} from './nodes.ts'
import {volumesOn} from './volumes.ts'

/** `workspace exec --gpus`: a command in the project's workspace on one node, with GPUs of any node of the rack. */
export async function runWithGpus(
  words: string[],
  flags: GpuFlags & {count: number; on?: string | undefined},
  session: ProjectSession,
  context: Context,
  json: boolean,
): Promise<NodeResult[] | undefined> {
  const [{attachGpus, gpuRequest}, {workspaceScript}] = await Promise.all([
    import('../../lib/gpu/index.ts'),
    import('../../lib/workspace/index.ts'),
  ])
  const {rack, fleet, manifest} = session
  const request = gpuRequest(flags, manifest.gpus)
  const node = oneNode(rack, flags.on)
  const {host, workspace} = await openWorkspace(fleet, node, manifest.name, context)
  const volumes = await volumesOn(host, session, context)
  const wait = waitSeconds(flags)
  const attached = await attachGpus(
    session,
    {
      nodes: rack.nodes,
      request,
      words,
      on: host,
      ...(wait !== undefined && {wait}),
      ...(flags.transport !== undefined && {transport: flags.transport}),
    },
    context,
  )
  atClose(context, () => attached.release())
  const command = workspaceScript(workspace, {...manifest.workspace.env, ...attached.env}, words, {
    libraries: attached.libraries,
    prefix: attached.prefix,
    isolate: manifest.workspace.isolate,
    volumes,
  })
  const ending = json
    ? await runCaptured(host.shell, command, context)
    : await runAttached(host.shell, command, context)
  process.exitCode = await exitStatus(ending)
  return json ? [{node: node.name, stdout: '', stderr: '', ...ending}] : undefined
}
