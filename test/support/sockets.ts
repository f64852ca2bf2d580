import {readFileSync} from 'node:fs'

/** One socket that somebody listens on. */
export interface Listening {
  /** Command line of the process. */
  command: string
  /** `loopback`, `all addresses`, `an address`, `a file` (unix), `an abstract name` (unix). */
  where: string
  /** As `ss` shows it. */
  name: string
}

/**
 * Reads what `ss -Hlntupx` prints: processes are named where their owner asks, or root. Lines without a process are
 * those of the kernel.
 */
export function readListening(text: string): Listening[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => {
      const [kind = '', , , , local = '', port = ''] = line.trim().split(/\s+/)
      const pids = [...line.matchAll(/pid=(\d+)/g)].map((match) => match[1] as string)
      const isUnix = kind.startsWith('u_')
      return [...new Set(pids)].map((pid) => ({
        command: commandOf(pid),
        where: isUnix ? (local.startsWith('@') ? 'an abstract name' : 'a file') : placeOf(local),
        name: isUnix ? local : `${kind} ${local} ${port}`,
      }))
    })
}

function placeOf(local: string): string {
  const address = local
    .replace(/:[^:]*$/, '')
    .replace(/%.*$/, '')
    .replace(/^\[|\]$/g, '')
  if (['*', '0.0.0.0', '::'].includes(address)) return 'all addresses'
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.')
    ? 'loopback'
    : 'an address'
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return '' // it has ended
  }
}
