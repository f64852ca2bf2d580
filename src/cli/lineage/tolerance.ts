import {CliError} from '../../lib/base/index.ts'

/** A relative difference, 0 and more. Errors: USAGE. */
export function toleranceOf(text: string): number {
  const value = /^\d*\.?\d+(e-?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(value)) return value
  throw new CliError('USAGE', `--tolerance is a number such as 1e-6, not ${text}`, {hint: '--tolerance 1e-6'})
}
