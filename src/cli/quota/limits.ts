import {CliError, parseSize} from '../../lib/base/index.ts'
import type {QuotaLimits} from '../../lib/protocol/index.ts'

function sizeOf(text: string): number {
  const bytes = text === '0' ? 0 : parseSize(text)
  if (bytes === undefined) throw new CliError('USAGE', `"${text}" is no size`, {hint: '--disk 500GiB'})
  return bytes
}

/** Errors: USAGE. */
export function limitsOf(flags: {
  gpus?: string | undefined
  'gpu-hours'?: string | undefined
  runs?: string | undefined
  notebooks?: string | undefined
  endpoints?: string | undefined
  servers?: string | undefined
  disk?: string | undefined
  soft: boolean
}): QuotaLimits {
  const {gpus, runs, notebooks, endpoints, servers, disk} = flags
  const given = {gpus, gpu_hours: flags['gpu-hours'], runs, notebooks, endpoints, servers, disk}
  return Object.fromEntries(
    Object.entries(given).flatMap(([what, text]) => {
      if (text === undefined) return []
      if (what === 'disk') return [[what, {most: sizeOf(text), ...(flags.soft && {soft: true})}]]
      const most = Number(text)
      if (!/^\d{1,9}(\.\d{1,3})?$/.test(text))
        throw new CliError('USAGE', `"${text}" is no number of ${what.replace('_', ' ')}`)
      return [[what, {most, ...(flags.soft && {soft: true})}]]
    }),
  )
}
