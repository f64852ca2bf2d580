import {readdir, readFile} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {CliError, momentToCome} from '../base/index.ts'

/** What ssh-keygen makes, the one that OpenSSH tries first before the others. */
const KEY_FILES = ['id_ed25519.pub', 'id_ed25519_sk.pub', 'id_ecdsa.pub', 'id_ecdsa_sk.pub', 'id_rsa.pub']
const PUBLIC_KEY = /^(?:sk-)?(?:ssh|ecdsa)-[\w@.-]+ [A-Za-z0-9+/]+={0,3}(?= |$)/

/**
 * When a share ends, in seconds since 1970: `30m`, `8h`, `7d` from `now` on (milliseconds), or a date of ISO 8601.
 * Errors: USAGE.
 */
export function shareEnd(text: string, now = Date.now()): number {
  return momentToCome(text, '--until 7d, or --until 2030-01-31', now) / 1000
}

/** `OWNER/NAME`. Errors: USAGE. */
export function parseShareName(text: string): {owner: string; name: string} {
  const [, owner, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? []
  if (owner === undefined || name === undefined)
    throw new CliError('USAGE', `${text} is not OWNER/NAME`, {hint: 'flexrack share list'})
  return {owner, name}
}

/**
 * A public key of OpenSSH, without its comment: of `file`, else of this account's newest usual kind. Undefined: there
 * is none. Errors: NOT_FOUND, USAGE for a file that is none.
 */
export async function readPublicKey(
  file: string | undefined,
  home = homedir(),
): Promise<{file: string; key: string} | undefined> {
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new CliError('NOT_FOUND', `${file} cannot be read: ${error.message}`)
    })
    const found = PUBLIC_KEY.exec(text.trim())
    if (!found)
      throw new CliError('USAGE', `${file} is no public key of OpenSSH`, {hint: '--key ~/.ssh/id_ed25519.pub'})
    return {file, key: found[0]}
  }
  const there: string[] = await readdir(join(home, '.ssh')).catch(() => [])
  const usual = KEY_FILES.find((name) => there.includes(name))
  return usual === undefined ? undefined : readPublicKey(join(home, '.ssh', usual), home)
}
