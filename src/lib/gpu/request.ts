import {CliError, parseSize} from '../base/index.ts'
import type {Api} from '../protocol/index.ts'
import type {GpuRequest} from './types.ts'

/** What flags and the manifest's `gpus` say, before it is one request. */
export interface RequestedGpus {
  count?: number | undefined
  /** `2GiB`, `512MiB`, or bytes. */
  memory?: string | undefined
  fraction?: number | string | undefined
  cap?: boolean | undefined
  whole?: boolean | undefined
  /** `cuda` or `opencl`. */
  api?: string | undefined
  /** Two nodes do the same; only a flag says so. */
  mirror?: boolean | undefined
  'on-mismatch'?: string | undefined
}

/** One request out of flags, and for what no flag says, the manifest's `gpus`. Throws USAGE for what cannot be. */
export function gpuRequest(flags: RequestedGpus, manifest: RequestedGpus = {}): GpuRequest {
  const shareRequested = flags.memory !== undefined || flags.fraction !== undefined || flags.whole
  const {memory, fraction, whole} = shareRequested ? flags : manifest
  if ([memory !== undefined, fraction !== undefined, whole === true].filter(Boolean).length > 1) {
    throw new CliError(
      'USAGE',
      'a share is asked for by --memory, by --fraction, or all of it by --whole: one of them',
      {hint: 'leave out all but one'},
    )
  }
  const bytes = memory === undefined ? undefined : parseSize(memory)
  if (memory !== undefined && bytes === undefined)
    throw new CliError('USAGE', `"${memory}" is not a size of memory`, {hint: '--memory 2GiB'})
  const share = fraction === undefined ? undefined : Number(fraction)
  if (share !== undefined && !(share >= 0.001 && share <= 1))
    throw new CliError('USAGE', `a fraction is a number from 0.001 to 1, not "${fraction}"`, {hint: '--fraction 0.25'})
  const cap = flags.cap ?? (shareRequested ? false : (manifest.cap ?? false))
  if (cap && bytes === undefined && share === undefined)
    throw new CliError('USAGE', '--cap limits a share, and this asks for whole devices', {hint: '--fraction 0.5 --cap'})
  const api = flags.mirror ? 'cuda' : (flags.api ?? manifest.api)
  const count = flags.count ?? (flags.mirror ? 1 : (manifest.count ?? 1))
  if (flags.mirror && (count !== 1 || flags.api === 'opencl'))
    throw new CliError('USAGE', '--mirror has two GPUs do what one does, through CUDA', {hint: '-n 1 --api cuda'})
  return {
    count,
    ...(flags.mirror && {mirror: {onMismatch: flags['on-mismatch'] === 'primary' ? 'primary' : 'stop'}}),
    ...(api && {api: api as Api}),
    ...(bytes !== undefined && {memory: bytes}),
    ...(share !== undefined && {fraction: Math.floor(share * 1000) / 1000}),
    cap,
  }
}
