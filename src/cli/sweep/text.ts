import {count} from '../../lib/base/index.ts'
import type {Background} from '../../lib/background/index.ts'
import type {Trial} from '../../lib/protocol/index.ts'
import type {Plotted, StoppedSweep, Sweep, Swept} from '../../lib/sweep/index.ts'
import {chartText} from '../runs/chart.ts'
import {paint} from '../terminal/print.ts'
import {ago, duration, fields, table} from '../terminal/render.ts'
import {shortNumber} from '../runs/metric-text.ts'
import {waitingText} from './unreached.ts'

/** What `sweep` ends with. */
export function sweptText(swept: Swept): string {
  const {sweep, best} = swept
  const next = [
    ...(best?.run ? [`flexrack model register ${swept.project} --run ${best.run}`] : []),
    `flexrack sweep plot ${sweep}`,
    ...(swept.status === 'finished' ? [] : [`flexrack sweep --resume ${sweep}`]),
  ]
  return [
    sweepText(swept),
    '',
    `${paint.dim('time:')} ${duration(swept.time)}`,
    `${paint.dim('next:')} ${next.join('\n      ')}`,
  ].join('\n')
}

/** What `sweep --detach` answers: mostly that it goes on. */
export function detachedText(sweep: Sweep): string {
  const {background, sweep: name} = sweep
  if (background?.state !== 'running') return sweepText(sweep)
  return [
    `Sweep ${paint.bold(name)} is going on without this command: process ${background.pid} on ${background.machine} drives it.`,
    `${paint.dim('log:')}  ${background.log}`,
    `${paint.dim('next:')} ${[`flexrack sweep show ${name}`, `flexrack sweep logs ${name} -f`, `flexrack sweep stop ${name}`].join('\n      ')}`,
  ].join('\n')
}

/** `sweep show`. */
export function sweepText(sweep: Sweep): string {
  const {spec, trials, importance, best} = sweep
  return [
    fields([
      ['sweep', `${paint.bold(sweep.sweep)} ${statusText(sweep)}`],
      [
        'tries',
        `${spec.goal} ${spec.metric}, ${spec.sampler}${spec.pruner.name === 'none' ? '' : ` with ${spec.pruner.name}`}`,
      ],
      ['command', sweep.command.join(' ')],
      ['driven', drivenText(sweep)],
      ['log', sweep.background ? sweep.background.log : undefined],
      ['trials', countsText(trials)],
      [
        'best',
        best
          ? `${paint.bold(shortNumber(best.value ?? NaN))} by trial ${best.number}, run ${best.run}\n${valuesText(best.texts)}`
          : undefined,
      ],
      [
        'matters',
        importance
          ? Object.entries(importance)
              .sort((a, b) => b[1] - a[1])
              .map(([name, share]) => `${name} ${(share * 100).toFixed(0)} %`)
              .join(', ')
          : undefined,
      ],
    ]),
    '',
    trialTable(sweep),
  ].join('\n')
}

/** `sweep list`. */
export function sweepListText(sweeps: Sweep[]): string {
  if (sweeps.length === 0) return 'No sweeps yet. Start one with: flexrack sweep'
  return table(
    sweeps.map((one) => {
      const {best} = one
      return {
        sweep: one.sweep,
        status: statusWord(one),
        driver: driverWord(one),
        started: ago(one.created * 1000),
        trials: String(one.trials.length),
        complete: String(one.trials.filter(({state}) => state === 'complete').length),
        metric: one.spec.metric,
        best: best ? shortNumber(best.value ?? NaN) : '-',
        run: best?.run ?? '-',
      }
    }),
    [
      'sweep',
      'status',
      'driver',
      {key: 'started', spare: true},
      {key: 'trials', align: 'right'},
      {key: 'complete', align: 'right'},
      {key: 'metric', spare: true},
      {key: 'best', align: 'right'},
      {key: 'run', title: 'BEST RUN', spare: true},
    ],
  )
}

/** In a list: the process here, else whose command; what is wrong with it. */
function driverWord({status, driver, background}: Sweep): string {
  const process = background && `process ${background.pid}`
  if (background?.state === 'running') return `${process}${isWaiting({status, driver, background}) ? ', waiting' : ''}`
  if (driver) return driver.includes('@') ? (driver.split(' ')[0] as string) : driver
  if (status !== 'interrupted' || !background || background.state === 'ended') return '-'
  return `${process}, ${background.state === 'lost' ? 'gone' : background.state}`
}

/** `sweep plot` in the terminal: the value of every trial, in the order they were asked; and where the picture is. */
export function plottedText(
  {file, trials: drawn}: Plotted,
  {sweep, spec, trials}: Sweep,
  size: {width: number; height: number},
): string {
  const values = trials.flatMap((one) => (one.value === null ? [] : [{step: one.number, value: one.value}]))
  const chart = chartText(`${spec.metric} of ${sweep}, by trial`, values, size).replaceAll('step ', 'trial ')
  return `${chart}\n\n${file}: ${count(drawn, 'trial')} as parallel coordinates`
}

/** `sweep stop`. */
export function stoppedSweepText({sweep, driver, runs, background}: StoppedSweep): string {
  const gone = background
    ? `; process ${background.pid} here is gone${background.how === 'killed' ? ', killed because it did not end' : ''}`
    : ''
  const left = driver && background && runs.length > 0 ? `; stopped besides: ${runs.join(', ')}` : ''
  const how = driver
    ? `it was driven by ${driver}, who has stopped its trials${left}`
    : runs.length > 0
      ? `nobody drove it; stopped: ${runs.join(', ')}`
      : 'nobody drove it, and none of its trials was running'
  return `Sweep ${sweep} has ended: ${how}${gone}.\n${paint.dim('next:')} flexrack sweep --resume ${sweep}`
}

/** One line for what happens to a trial. */
export function trialNews(event: 'started' | 'resumed' | 'ended', trial: Trial, metric: string): string {
  if (event === 'ended') return trialLine(trial, metric)
  return `trial ${trial.number} ${event === 'resumed' ? 'goes on' : 'started'}: run ${trial.run}  (${valuesText(trial.texts)})`
}

function valuesText(texts: Record<string, string>): string {
  return Object.entries(texts)
    .map(([name, text]) => `${name} ${text}`)
    .join(', ')
}

function trialLine({number, state, value, why, texts}: Trial, metric: string): string {
  const how =
    state === 'complete' ? `${metric} ${shortNumber(value ?? NaN)}` : state === 'pruned' ? 'pruned' : `failed: ${why}`
  return `trial ${number}: ${how}  (${valuesText(texts)})`
}

/** The best first, then those without a value. */
function trialTable({spec, trials}: Sweep): string {
  const sign = spec.goal === 'maximize' ? -1 : 1
  const rank = (one: Trial): number => ['complete', 'pruned', 'failed', 'running'].indexOf(one.state)
  const sorted = trials.toSorted(
    (a, b) => rank(a) - rank(b) || sign * ((a.value ?? 0) - (b.value ?? 0)) || a.number - b.number,
  )
  const names = Object.keys(spec.parameters)
  const rows = sorted.map((one) => ({
    trial: String(one.number),
    state: stateText(one.state),
    value: one.value === null ? (one.last === null ? '-' : paint.dim(shortNumber(one.last))) : shortNumber(one.value),
    ...Object.fromEntries(
      names.map((name) => [
        `of:${name}`,
        typeof one.params[name] === 'number' ? shortNumber(one.params[name]) : (one.texts[name] ?? '-'),
      ]),
    ),
    time: one.started === null || one.ended === null ? '-' : duration((one.ended - one.started) * 1000),
    run: one.run ?? '-',
    why: one.state === 'failed' ? (one.why ?? '') : '',
  }))
  const why = rows.some((one) => one.why !== '') ? ['why'] : []
  return table(rows, [
    {key: 'trial', align: 'right'},
    'state',
    {key: 'value', title: spec.metric, align: 'right'},
    ...names.map((name) => ({key: `of:${name}`, title: name, align: 'right' as const})),
    {key: 'time', align: 'right', spare: true},
    'run',
    ...why,
  ])
}

function countsText(trials: Trial[]): string {
  const states = ['complete', 'pruned', 'failed', 'running'] as const
  const parts = states
    .map((state) => [state, trials.filter((one) => one.state === state).length] as const)
    .filter(([, number]) => number > 0)
  return `${count(trials.length, 'trial')}${parts.length > 0 ? `: ${parts.map(([state, number]) => `${number} ${state}`).join(', ')}` : ''}`
}

function stateText(state: Trial['state']): string {
  if (state === 'complete') return paint.green(state)
  return state === 'failed' ? paint.red(state) : state === 'pruned' ? paint.yellow(state) : paint.cyan(state)
}

/** Who drives it, where that is more than the status says; or why nobody does, and the way on. */
function drivenText({sweep, status, driver, background}: Sweep): string | undefined {
  const way = ['interrupted', 'stopped'].includes(status)
    ? `\ngoes on with: flexrack sweep --resume ${sweep}${background ? ' --detach' : ''}`
    : ''
  if (background?.state === 'running')
    return `in the background, by process ${background.pid} on ${background.machine}, since ${ago(background.started)}${isWaiting({status, driver, background}) ? `\n${lostText(sweep, background)}` : ''}`
  if (driver) return undefined
  if (background?.state === 'elsewhere')
    return `in the background, by process ${background.pid} on ${background.machine}, unless that is gone${way}`
  return status === 'finished' || (way === '' && !background)
    ? undefined
    : `by nobody${background ? `: ${goneText(background)}` : ''}${way}`
}

function goneText({pid, machine, state, why}: Background): string {
  const process = `process ${pid} on ${machine}`
  if (state === 'lost') return `${process} is gone without a word (killed, or the machine was started anew)`
  return `${process} has ended${why === null ? '' : `: ${why}`}`
}

/**
 * Its process says so, or lives and does not hold the lock; that of a connection that died without a word is held for
 * some minutes.
 */
function isWaiting({status, driver, background}: Pick<Sweep, 'status' | 'driver' | 'background'>): boolean {
  return background?.state === 'running' && (background.waiting !== null || (status === 'interrupted' && !driver))
}

function lostText(sweep: string, {waiting}: Background): string {
  return `it ${waiting ? waitingText(waiting) : 'is without a connection just now, and tries again'}\nended by: flexrack sweep stop ${sweep}`
}

function statusText(sweep: Sweep): string {
  return `${statusWord(sweep)}${sweep.status === 'running' && sweep.driver ? paint.dim(` (${sweep.driver})`) : ''}`
}

function statusWord({status}: Sweep): string {
  if (status === 'running') return paint.cyan(status)
  return status === 'finished' ? paint.green(status) : status === 'failed' ? paint.red(status) : paint.yellow(status)
}
