import {Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag, skipFlag, yesFlag} from '../cli/base/flags.ts'
import type {CheckResult} from '../lib/project/index.ts'

export default class Check extends BaseCommand {
  static override summary = 'find everything that would stop a run'
  static override description =
    'Checks the manifest, the rack file, every node (reachable, host key, Python, disk, clock, routes), the head, and Slurm where the rack has it (partition, account, limits, a shared folder). Each finding names its file and line, or its node, and a way to fix it. ' +
    'If there are errors, the exit status is 3. --offline stops after the files. --preflight also runs the checks that `train` makes before it starts, and shows which node reaches which, and how fast.'
  static override examples = [
    '<%= config.bin %> check',
    '<%= config.bin %> check --offline',
    '<%= config.bin %> check --on node-1 --json',
    '<%= config.bin %> check --preflight',
    '<%= config.bin %> check --fix',
  ]
  static override flags = {
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    offline: Flags.boolean({description: 'do not connect to the nodes', exclusive: ['preflight']}),
    preflight: Flags.boolean({
      description:
        'also run the checks that a training makes before it starts: limits, versions, GPUs, old processes, links between the nodes',
    }),
    skip: skipFlag,
    fix: Flags.boolean({
      description:
        'first fix on the nodes what needs no root: end what old runs left, remove incomplete files and, where the disk is short, what nothing uses; then --preflight',
      exclusive: ['offline'],
    }),
    yes: yesFlag,
  }

  async run(): Promise<CheckResult> {
    const {flags} = await this.parse(Check)
    const ctx = await this.context()
    const mended = flags.fix
      ? await (
          await import('../cli/check/fix.ts')
        ).fixNodes(await this.session(flags), {on: flags.on, yes: flags.yes, json: this.jsonEnabled()}, ctx)
      : undefined
    const [{checkProject}, {openRackFleet}, {parseSkip}, {checkText}] = await Promise.all([
      import('../lib/project/index.ts'),
      import('../cli/base/fleet.ts'),
      import('../lib/preflight/index.ts'),
      import('../cli/check/text.ts'),
    ])
    const checked = await checkProject(
      {
        project: flags.project ?? process.cwd(),
        offline: flags.offline,
        ...((flags.preflight || flags.fix) && {preflight: {skip: parseSkip(flags.skip)}}),
        openFleet: (rack) => openRackFleet(rack, ctx),
        ...(flags.rack !== undefined && {rack: flags.rack}),
        ...(flags.on !== undefined && {on: flags.on}),
      },
      ctx,
    )
    const result = {...checked, ...(mended && {mended})}
    this.answer(result, checkText)
    if (result.ok) return result
    const {CliError} = await import('../lib/base/index.ts')
    const findings = [...result.findings, ...(result.preflight?.findings ?? [])]
    const errors = findings.filter((finding) => finding.severity === 'error').length
    throw new CliError('CHECK_FAILED', `the check found ${errors} ${errors === 1 ? 'error' : 'errors'}`, {
      details: {
        findings: result.findings,
        checked: result.checked,
        ...(this.jsonEnabled() && {preflight: result.preflight, mended}),
      },
    })
  }
}
