import {CliError} from '../../lib/base/index.ts'
import type {QuotaLimits} from '../../lib/protocol/index.ts'

/** Errors: USAGE. */
export function limitsOf(flags: {
  gpus?: string | undefined
  'gpu-hours'?: string | undefined
  runs?: string | undefined
  soft: boolean
}): QuotaLimits {
  const given = {gpus: flags.gpus, gpu_hours: flags['gpu-hours'], runs: flags.runs}
  return Object.fromEntries(
    Object.entries(given).flatMap(([what, text]) => {
      if (text === undefined) return []
      const most = Number(text)
      if (!/^\d{1,9}(\.\d{1,3})?$/.test(text))
        throw new CliError('USAGE', `"${text}" is no number of ${what.replace('_', ' ')}`)
      return [[what, {most, ...(flags.soft && {soft: true})}]]
    }),
  )
}
