import {nearestName, type Path} from '../document/index.ts'
import {sweepSeconds} from './duration.ts'
import type {ManifestFile} from './schema.ts'
import type {ParameterSpec, SweepSpec} from './types.ts'
import {splitWords} from './words.ts'

type Report = (path: Path, message: string, more?: {expected?: string; nearest?: string}) => void
type SweepFile = NonNullable<ManifestFile['sweep']>
type Written = SweepFile['parameters'][string]

/** More points than anybody runs: a step that was meant otherwise. */
const GRID_POINTS = 100_000

/** What more than one key of `sweep:` says together. */
export function checkSweep(sweep: SweepFile, train: ManifestFile['train'], report: Report): void {
  if (!train)
    report(['sweep'], 'sweep: there is no `train:` part, whose command a trial would run', {
      expected: 'train: {command: train.py}',
    })
  for (const [name, one] of Object.entries(sweep.parameters)) checkParameter(sweep, name, one, report)
  checkVariables(Object.keys(sweep.parameters), report)
  checkPlaceholders(sweep, report)
  if (sweep.sampler === 'grid') {
    const points = Object.values(sweep.parameters).reduce((product, one) => product * sizeOf(one), 1)
    if (Number.isFinite(points) && points > GRID_POINTS)
      report(['sweep', 'parameters'], `sweep.parameters: the grid has ${points} points; ${GRID_POINTS} at most`)
  }
}

/** From the file's keys to the manifest. */
export function resolveSweep({
  pruner,
  time,
  arguments: words,
  parameters,
  trials,
  seed,
  ...rest
}: SweepFile): SweepSpec {
  const split = typeof words === 'string' ? splitWords(words) : words
  const seconds = typeof time === 'string' ? sweepSeconds(time) : time
  const {name, ...options} = typeof pruner === 'string' ? {name: pruner} : pruner
  return {
    ...rest,
    pruner: {
      name,
      ...(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as object),
    },
    ...(trials !== undefined && {trials}),
    ...(seed !== undefined && {seed}),
    ...(seconds !== undefined && {time: seconds}),
    parameters: Object.fromEntries(Object.entries(parameters).map(([key, one]) => [key, resolveParameter(one)])),
    ...(Array.isArray(split) && {arguments: split}),
  }
}

/** Name of a parameter's variable in the environment of a trial. */
export function parameterVariable(name: string): string {
  return `FLEXRACK_PARAM_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
}

function resolveParameter(one: Written): ParameterSpec {
  if (Array.isArray(one)) return {choices: one}
  const {min, max, step, scale} = one
  return {min, max, ...(step !== undefined && {step}), log: scale === 'log', integer: isWhole(one)}
}

function isWhole({min, max, step}: Exclude<Written, unknown[]>): boolean {
  return step !== undefined && [min, max, step].every(Number.isInteger)
}

function checkParameter({sampler}: SweepFile, name: string, one: Written, report: Report): void {
  const at = ['sweep', 'parameters', name]
  const label = at.join('.')
  if (Array.isArray(one)) {
    for (const [index, value] of one.entries()) {
      if (one.indexOf(value) < index) report([...at, index], `${label} has ${String(value)} twice`)
    }
    if (sampler === 'cmaes')
      report(at, `${label} is a list, and the sampler cmaes takes numbers from min to max only`, {
        expected: '{min: ..., max: ...}',
      })
    return
  }
  const {min, max, step, scale} = one
  if (min >= max) report([...at, 'max'], `${label}.max must be larger than its min, ${min}`)
  if (scale === 'log' && min <= 0) report([...at, 'min'], `${label}.min must be above 0 on a log scale`)
  if (scale === 'log' && step !== undefined && !(isWhole(one) && step === 1))
    report([...at, 'step'], `${label}: a log scale has no step, but 1 for whole numbers`)
  if (step !== undefined && step > max - min)
    report([...at, 'step'], `${label}.step is larger than all of it, ${max - min}`)
  if (sampler === 'grid' && (step === undefined || scale === 'log')) {
    report(at, `${label}: a grid needs a list of values${scale === 'log' ? '' : ', or a step'}`, {
      expected: scale === 'log' ? '[0.001, 0.01, 0.1]' : `{min: ${min}, max: ${max}, step: ...}`,
    })
  }
}

function checkVariables(names: string[], report: Report): void {
  for (const [index, name] of names.entries()) {
    const other = names.slice(0, index).find((one) => parameterVariable(one) === parameterVariable(name))
    if (other !== undefined)
      report(
        ['sweep', 'parameters', name],
        `sweep.parameters: ${other} and ${name} would be the same variable, ${parameterVariable(name)}`,
      )
  }
}

function checkPlaceholders({arguments: words, parameters}: SweepFile, report: Report): void {
  if (words === undefined) return
  const names = Object.keys(parameters)
  for (const [, name = ''] of (Array.isArray(words) ? words.join(' ') : words).matchAll(
    /\{([A-Za-z][A-Za-z0-9_.-]*)\}/g,
  )) {
    if (names.includes(name)) continue
    const nearest = nearestName(name, names)
    report(
      ['sweep', 'arguments'],
      `sweep.arguments: there is no parameter ${name}${nearest ? `; did you mean {${nearest}}?` : ''}`,
      nearest ? {nearest} : {},
    )
  }
}

/** How many values a parameter has; infinitely many where it has no step. */
function sizeOf(one: Written): number {
  if (Array.isArray(one)) return one.length
  return one.step === undefined ? Infinity : Math.floor((one.max - one.min) / one.step + 1e-9) + 1
}
