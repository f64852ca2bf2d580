import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {planText} from '../../cli/terminal/render.ts'
import type {Plan} from '../../lib/plan/index.ts'

export default class NotebookStop extends BaseCommand {
  static override summary = 'end a notebook, with its kernels and its token'
  static override description =
    'Ends the server and every kernel, whatever they are doing, and removes the token. The files in the workspace stay.'
  static override examples = [
    '<%= config.bin %> notebook stop',
    '<%= config.bin %> notebook stop digits --on node-1 --dry-run',
  ]
  static override args = {project: Args.string({description: 'name of the project (default: that of flexrack.yaml)'})}
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(NotebookStop)
    const session = await this.session(flags)
    const context = await this.context()
    const [{notebookWish}, {openDesk}, {notebooksOf}, {projectName}] = await Promise.all([
      import('../../lib/notebook/index.ts'),
      import('../../lib/holding/index.ts'),
      import('../../cli/notebook/open.ts'),
      import('../../cli/workspace/nodes.ts'),
    ])
    const project = projectName(args.project, session.manifest)
    const found = await notebooksOf(session, {project, on: flags.on}, context)
    const steps = found.map(({notebook, host}) => ({
      id: `stop:${host.node}`,
      node: host.node,
      kind: 'notebook.stop',
      title: `End the notebook of ${project}${notebook.kernels.length > 0 ? ` and ${notebook.kernels.length} of its kernels` : ''}`,
      input: {project},
      needs: [],
    }))
    const plan: Plan = {command: 'notebook stop', steps}
    if (flags['dry-run']) return this.answer(plan, planText)
    await Promise.all(found.map(({host}) => host.call('notebook.remove', {project}, {signal: context.kill})))
    const desk = await openDesk(session, context)
    const names = found.map(({host}) => notebookWish(host.node, project).name)
    await desk?.release({kind: 'notebook', project}, names)
    return this.answer(
      found.map(({host}) => ({project, node: host.node})),
      (all) =>
        all.map((one) => `The notebook of ${one.project} on ${one.node} is ended.`).join('\n') ||
        'There was no notebook to end.',
    )
  }
}
