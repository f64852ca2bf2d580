import type {SourceFile} from './imports.ts'
import {countLines} from './files.ts'

/** Lines a hand-written file of the native layer may have. */
const LONGEST = 500
const INCLUDE = /^\s*#\s*include\s*["<]([^">]+)[">]/gm
const PRODUCT = /^native\/(client|server|backend|lease_keeper|wire|gen|cuda|sim)\//
/**
 * Who may include whom in the product: a client never sees a server's parts, nor the other way round; all see the wire
 * and what is generated.
 */
const FORBIDDEN: readonly (readonly [from: RegExp, to: RegExp, why: string])[] = [
  [/^native\/client\//, /^(server|backend|lease_keeper)\//, 'the client knows nothing of the server'],
  [/^native\/(server|backend)\//, /^client\//, 'the server knows nothing of the client'],
  [/^native\/backend\//, /^server\//, 'a backend is below the server'],
  [/^native\/(wire|gen)\//, /^(client|server|backend|lease_keeper|cuda|sim)\//, 'the wire is below everything'],
  [
    /^native\/cuda\//,
    /^(client|server|backend|lease_keeper|wire|sim)\//,
    'the facts about CUDA know nothing of who uses them',
  ],
  [
    /^native\/sim\//,
    /^(client|server|backend|lease_keeper|wire)\//,
    'the driver in software knows nothing of the wire',
  ],
  [PRODUCT, /^(CL\/|cuda\.h|cuda_|cudaTypedefs|nvml\.h)/, 'no vendor header is needed to build'],
  [PRODUCT, /^(test|bench)\//, 'the product does not need its tests'],
]

/** What is wrong with a C or C++ file of the native layer, as `path: finding` lines. */
export function checkNative({path, text}: SourceFile): string[] {
  if (!/^native\/.*\.(c|cpp|h)$/.test(path)) return []
  const findings: string[] = []
  const lines = countLines(text)
  if (!path.startsWith('native/gen/') && lines > LONGEST) findings.push(`${lines} lines; ${LONGEST} at most`)
  for (const [, target = ''] of text.matchAll(INCLUDE)) {
    for (const [from, to, why] of FORBIDDEN)
      if (from.test(path) && to.test(target)) findings.push(`includes ${target}: ${why}`)
    if (target.startsWith('../')) findings.push(`includes ${target}: paths are relative to native/`)
  }
  return findings.map((finding) => `${path}: ${finding}`)
}
