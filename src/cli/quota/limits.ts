import {CliError, parseSize, QUOTA_WORDS} from '../../lib/base/index.ts'
import type {QuotaLimits} from '../../lib/protocol/index.ts'

function sizeOf(text: string): number {
  const bytes = text === '0' ? 0 : parseSize(text)
  if (bytes === undefined) throw new CliError('USAGE', `"${text}" is no size`, {hint: '--disk 500GiB'})
  return bytes
}

/** The limits that flags say, each called as what it limits: `--gpu-hours`. Errors: USAGE. */
export function limitsOf({soft, ...flags}: {soft: boolean; [flag: string]: unknown}): QuotaLimits {
  return Object.fromEntries(
    Object.keys(QUOTA_WORDS).flatMap((what) => {
      const text = flags[what.replaceAll('_', '-')]
      if (typeof text !== 'string') return []
      if (what === 'disk') return [[what, {most: sizeOf(text), ...(soft && {soft})}]]
      const most = Number(text)
      if (!/^\d{1,9}(\.\d{1,3})?$/.test(text))
        throw new CliError('USAGE', `"${text}" is no number of ${what.replace('_', ' ')}`)
      return [[what, {most, ...(soft && {soft})}]]
    }),
  )
}
