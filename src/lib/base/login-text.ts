import {hash} from 'node:crypto'

/** What a signature of a login is for: one that was made for something else does not count. */
export const LOGIN_NAMESPACE = 'flexrack-head'

/** What an SSH key signs to log in. `head`: see headFingerprint. */
export function loginText({user, nonce, head}: {user: string; nonce: string; head: string}): string {
  return `flexrack login\nuser ${user}\nhead ${head}\nnonce ${nonce}\n`
}

/** What a head is known by in a signature: of the certificates that clients trust. The same here and at the head. */
export function headFingerprint(ca: string): string {
  return hash('sha256', ca.trim())
}
