import {count, isOpenStatus, sizeText} from '../../lib/base/index.ts'
import type {Comparison, RunEntry, ShownRun, Stopped} from '../../lib/runs/index.ts'
import type {Trained} from '../../lib/train/index.ts'
import {describeCause} from '../../lib/runs/index.ts'
import {figureFields} from './figures-text.ts'
import {hangsText} from './hang-text.ts'
import {metricTexts, shortNumber} from './metric-text.ts'
import {paint} from '../terminal/print.ts'
import {rankTable} from './rank-table.ts'
import {paceText, stragglerLine} from './pace-text.ts'
import {duration, fields, table} from '../terminal/render.ts'
import {attemptsText} from './attempts-text.ts'
import {queueText, slurmLine} from './slurm-text.ts'
import {uploadsText} from './upload-text.ts'
import {unsentText} from './unsent-text.ts'

/** More metrics than this are counted in the last lines of `train`: `runs show` has them all. */
const MOST_METRICS = 6

/** What `train` ends with. */
export function trainedText(trained: Trained): string {
  const {times, run} = trained
  if (trained.status === 'running') {
    return [
      `Run ${paint.bold(run)} is going on without this command: ${count(trained.worldSize, 'rank')} ${trained.slurm ? `in Slurm, ${queueText(trained.slurm)}` : `on ${trained.nodes.join(', ')}`}.`,
      nextCommands([`flexrack runs logs ${run} -f`, `flexrack runs wait ${run}`, `flexrack runs stop ${run}`]),
    ].join('\n')
  }
  const where = [
    ['sync', times.sync],
    ['environment', times.environment],
    ['preflight', times.preflight],
    ['start', times.start],
    ['training', times.training],
    ['recording', times.recording],
  ] as const
  const left = Object.values(trained.left).flat()
  return [
    '',
    fields([
      ['run', `${paint.bold(run)} ${statusText(trained.status)}`],
      [
        'ranks',
        `${trained.worldSize} on ${trained.nodes.join(', ')}${trained.attempts > 1 ? `, ${trained.attempts} attempts` : ''}`,
      ],
      ['pace', stragglerLine(trained.pace)],
      ['metrics', fewMetrics(trained)],
      [
        'outputs',
        trained.outputs.slice(0, 8).join(', ') +
          (trained.outputs.length > 8 ? ` and ${trained.outputs.length - 8} more` : ''),
      ],
      [
        'time',
        `${duration(times.total)}: ${where
          .filter(([, time]) => time >= 50)
          .map(([name, time]) => `${name} ${duration(time)}`)
          .join(', ')}`,
      ],
      [
        'record',
        trained.recorded === false
          ? 'not complete yet: the next `flexrack runs` command that reaches the tracking server and the nodes completes it'
          : undefined,
      ],
      [
        'left',
        left.length > 0
          ? paint.red(`processes ${left.join(', ')} are alive`)
          : trained.status === 'finished'
            ? undefined
            : `no process of the run on ${Object.keys(trained.left).join(', ')}`,
      ],
    ]),
    trained.status === 'finished' ? nextCommands(afterTraining(trained)) : '',
  ]
    .filter((part, index) => index === 0 || part !== '')
    .join('\n')
}

function fewMetrics({metrics}: Trained): string {
  const {texts, more} = metricTexts(metrics, MOST_METRICS)
  return texts.join('  ') + (more > 0 ? `, and ${more} more` : '')
}

/** `runs show`. */
export function shownRunText(run: ShownRun): string {
  const times =
    run.started === null
      ? '-'
      : `${new Date(run.started).toISOString()}${run.ended === null ? '' : `, ${duration(run.ended - run.started)}`}`
  const parts = [
    fields([
      ['run', `${paint.bold(run.run)} ${statusText(run.status)}`],
      ['end', run.doubt ? `not known: ${run.doubt.message}\n${reportedLater(run)}` : undefined],
      ['slurm', run.slurm ? slurmLine(run.slurm) : undefined],
      ['cause', run.cause ? describeCause(run.cause) : run.tags['flexrack.cause']],
      [
        'rebooted',
        run.cause?.lost === 'reboot' || run.rebooted.length === 0
          ? undefined
          : `${run.rebooted.join(', ')}, while it went on`,
      ],
      ['command', run.command.join(' ')],
      ['started', times],
      ['nodes', `${run.nodes.join(', ')}${run.worldSize === null ? '' : ` (${count(run.worldSize, 'rank')})`}`],
      [
        'leader',
        run.term !== null && run.term > 1
          ? `${run.leader}, chosen by the others (${run.nodes[0]} led at first)`
          : undefined,
      ],
      [
        'commit',
        run.commit
          ? `${run.commit.slice(0, 12)}${run.tags['flexrack.dirty'] === 'true' ? ' with changes (artifact source/changes.diff)' : ''}`
          : undefined,
      ],
      [
        'code',
        run.code
          .map(
            (one) =>
              `${one.digest.slice(0, 12)} (${count(one.files, 'file')}, ${sizeText(one.bytes)})${run.code.length > 1 ? ` on ${one.nodes.join(', ')}` : ''}${savedText(one)}`,
          )
          .join('\n') || undefined,
      ],
      ['data', run.data.map(({name, digest}) => `${name}@${digest.slice(0, 12)}`).join('\n') || undefined],
      ['environment', run.environment ?? undefined],
      ['record', run.recorded === false ? 'not complete yet' : (run.trackedId ?? 'not tracked')],
      [
        'parameters',
        Object.entries(run.params)
          .map(([name, value]) => `${name} = ${value}`)
          .join('\n'),
      ],
      [
        'metrics',
        run.lastMetrics
          .map((metric) => `${metric.key} = ${shortNumber(metric.value)} (step ${metric.step})`)
          .join('\n'),
      ],
      ...(run.figures ? figureFields(run.figures, run.scaling) : []),
      [
        'artifacts',
        run.artifacts.map((one) => `${one.path}${one.size === undefined ? '' : ` (${sizeText(one.size)})`}`).join('\n'),
      ],
      [
        'files',
        Object.entries(run.folders)
          .map(([node, folder]) => `${node}:${folder}`)
          .join('\n'),
      ],
    ]),
    attemptsText(run.attempts),
    rankTable(run.ranks, !isOpen(run)),
    run.cause && run.cause.lines.length > 0
      ? `${paint.dim('last lines of the first cause:')}\n${run.cause.lines.map((line) => `  ${line}`).join('\n')}`
      : '',
    paceText(run.attempts.at(-1)?.pace),
    hangsText(run.hangs),
    uploadsText(run),
    unsentText(run.run, run.unsent),
    run.away ? paint.dim(`The tracking server was not asked: ${run.away}`) : '',
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** `runs stop`. */
export function stoppedText({run, status, left, unreached}: Stopped): string {
  const nodes = Object.keys(left)
  const how = status === 'unknown' || status === 'stopping' ? 'has ended where it could be reached' : status
  const rest = unreached.length === 0 ? '' : `; what is left on ${unreached.join(', ')} is not known`
  return `Run ${run} ${how}: ${nodes.length === 0 ? 'it had not begun on any node' : `no process of it is left on ${nodes.join(', ')}`}${rest}.`
}

/** `runs compare`. */
export function comparisonText({runs, params, metrics}: Comparison): string {
  const row = (name: string, values: (string | null)[]): Record<string, string> =>
    Object.fromEntries([['name', name], ...runs.map((run, index) => [run, values[index] ?? '-'])])
  const columns = [{key: 'name', title: ''}, ...runs.map((run) => ({key: run, title: run, align: 'right' as const}))]
  const rows = [
    ...metrics.map((one) =>
      row(
        paint.bold(one.name),
        one.values.map((value) => (value === null ? null : shortNumber(value))),
      ),
    ),
    ...params.map((one) => row(one.isSame ? paint.dim(one.name) : one.name, one.values)),
  ]
  return rows.length === 0 ? `${runs.join(' and ')} have neither metrics nor parameters.` : table(rows, columns)
}

export function statusText(status: string): string {
  if (status === 'finished') return paint.green(status)
  if (status === 'failed') return paint.red(status)
  return status === 'stopped' || status === 'unknown' ? paint.yellow(status) : paint.cyan(status)
}

/** Who knows how it ended, and the way on. */
function reportedLater({run, doubt}: RunEntry): string {
  const nodes = doubt?.nodes ?? []
  return `once ${nodes.join(', ')} ${nodes.length === 1 ? 'answers' : 'answer'}, it is told by: flexrack runs show ${run}`
}

/** It goes on, or will. */
export function isOpen(run: RunEntry): boolean {
  return isOpenStatus(run.status)
}

function afterTraining({run, trackedId, outputs}: Trained): string[] {
  const model = outputs.some((one) => one.endsWith('.onnx')) && trackedId !== null
  return [
    `flexrack runs show ${run}`,
    ...(trackedId !== null ? ['flexrack head ui'] : []),
    ...(model ? [`flexrack model register ${run.replace(/-[^-]*$/, '')} --run ${run} --alias production`] : []),
  ]
}

function nextCommands(commands: string[]): string {
  return `${paint.dim('next:')} ${commands.join('\n      ')}`
}

/** The snapshots of a run's code: `workspace restore --run` brings them back. */
function savedText({snapshots, unsaved}: ShownRun['code'][number]): string {
  const saved = Object.entries(snapshots).map(([node, id]) => `${id.slice(0, 8)} on ${node}`)
  return [
    ...(saved.length > 0 ? [`, saved as ${saved.join(', ')}`] : []),
    ...Object.entries(unsaved).map(([node, why]) => `\nnot saved on ${node}: ${why}`),
  ].join('')
}
