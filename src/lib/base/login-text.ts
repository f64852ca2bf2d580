/** What a signature of a login is for: one that was made for something else does not count. */
export const LOGIN_NAMESPACE = 'flexrack-head'

/** What an SSH key signs to log in. `head`: SHA-256 of the certificates that the client trusts. */
export function loginText({user, nonce, head}: {user: string; nonce: string; head: string}): string {
  return `flexrack login\nuser ${user}\nhead ${head}\nnonce ${nonce}\n`
}
