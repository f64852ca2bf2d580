import {resolve} from 'node:path'
import {parseSize} from '../base/index.ts'
import type {Path} from '../document/index.ts'
import type {ManifestFile} from './schema.ts'
import type {EndpointSpec, ScaleSpec, ServerGpusSpec, ServerSpec} from './types.ts'
import {readReplicaRange} from './replica-range.ts'
import {splitWords} from './words.ts'

type EndpointFile = ManifestFile['endpoints'][string]

/** The runtime that is a command of the project's own, and no recipe. */
const CUSTOM = 'custom'

/** Where a server of each protocol says that it is ready, if nobody names another path. */
const READY: Record<ServerSpec['protocol'], string> = {
  v2: '/v2/models/{model}/ready',
  openai: '/health',
  mlflow: '/ping',
}

/** Keys of a server of the project's own go together. */
export function checkEndpoint(
  {runtime, command, protocol, ready, replicas, scale}: EndpointFile,
  path: Path,
  report: (path: Path, message: string) => void,
): void {
  const at = (key: string, message: string): void => report([...path, key], `${[...path, key].join('.')} ${message}`)
  const range = readReplicaRange(String(replicas))
  if (!range) at('replicas', 'must be the fewest and then the most, such as 0..4')
  if (scale && range && range.minReplicas === undefined) at('scale', 'goes with a range of replicas, such as 1..4')
  const words = typeof command === 'string' ? splitWords(command) : command
  if (typeof words === 'string') at('command', words)
  else if (words?.length === 0) at('command', 'must have a word')
  if (command !== undefined && runtime !== undefined && runtime !== CUSTOM)
    at('command', `goes with the runtime ${CUSTOM}, and not with ${runtime}`)
  if (command === undefined && runtime === CUSTOM) at('runtime', `${CUSTOM} needs a command`)
  if (command !== undefined) return
  for (const [key, value] of Object.entries({protocol, ready}))
    if (value !== undefined) at(key, 'goes with a command: a recipe says it of its server')
}

export function resolveEndpoint(
  {model, runtime, replicas, scale, command, protocol = 'v2', ready, require, gpus, memory, cors}: EndpointFile,
  folder: string,
): EndpointSpec {
  const words = typeof command === 'string' ? splitWords(command) : command
  const own = Array.isArray(words) ? CUSTOM : runtime
  return {
    model,
    ...(readReplicaRange(String(replicas)) ?? {replicas: 1}),
    ...(scale && {scale: scale as Partial<ScaleSpec>}),
    ...(own !== undefined && {runtime: own}),
    ...(memory !== undefined && {memory: parseSize(memory) ?? 0}),
    ...(gpus !== undefined && {
      gpus: typeof gpus === 'number' ? {count: gpus, cap: false, remote: false} : (gpus as ServerGpusSpec),
    }),
    ...(cors !== undefined && {cors}),
    ...(require && {signers: resolve(folder, require.signed)}),
    ...(Array.isArray(words) && {
      server: {command: words, protocol, ready: ready ?? {path: READY[protocol], seconds: 120}},
    }),
  }
}
