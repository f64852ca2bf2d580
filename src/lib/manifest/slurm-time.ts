import {UNIT_SECONDS} from '../base/index.ts'

/**
 * A number with a unit, or one of the forms of sbatch(1) that name their parts: [days-]hours:minutes:seconds,
 * days-hours.
 */
export const SLURM_TIME =
  /^(?:[1-9]\d{0,6}\s?[smhd]|\d{1,4}:[0-5]?\d:[0-5]?\d|\d{1,4}-\d{1,2}(?::[0-5]?\d(?::[0-5]?\d)?)?)$/

/** What `--time` takes: a form of Slurm as it is, `90m` as 1:30:00. The text matches SLURM_TIME. */
export function slurmTime(text: string): string {
  const match = /^(\d+)\s?([smhd])$/.exec(text)
  if (!match) return text
  const seconds = Number(match[1]) * (UNIT_SECONDS[match[2] as string] as number)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  return `${Math.floor(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`
}
