import type {Algorithms, ServerHostKeyAlgorithm} from 'ssh2'

/** Signature algorithms by type of host key, best first. RSA only with SHA-2. */
const HOST_KEY_ALGORITHMS: [keyType: string, algorithms: ServerHostKeyAlgorithm[]][] = [
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256']],
]

/**
 * What we offer. AES-GCM first: it is the quickest that node:crypto does, and ssh2's own ChaCha20 is plain JavaScript
 * here. Host key types in `known` come first, so that a server with several keys shows the one we can verify.
 */
export function chooseAlgorithms(known: ReadonlySet<string>): Algorithms {
  const rank = (entry: [string, unknown]): number => (known.has(entry[0]) ? 0 : 1)
  return {
    cipher: [
      'aes128-gcm@openssh.com',
      'aes256-gcm@openssh.com',
      'aes128-ctr',
      'aes192-ctr',
      'aes256-ctr',
      'chacha20-poly1305@openssh.com',
    ],
    kex: [
      'curve25519-sha256',
      'curve25519-sha256@libssh.org',
      'ecdh-sha2-nistp256',
      'ecdh-sha2-nistp384',
      'ecdh-sha2-nistp521',
      'diffie-hellman-group-exchange-sha256',
      'diffie-hellman-group14-sha256',
      'diffie-hellman-group16-sha512',
      'diffie-hellman-group18-sha512',
    ],
    hmac: [
      'hmac-sha2-256-etm@openssh.com',
      'hmac-sha2-512-etm@openssh.com',
      'hmac-sha2-256',
      'hmac-sha2-512',
      'hmac-sha1',
    ],
    serverHostKey: [...HOST_KEY_ALGORITHMS].sort((a, b) => rank(a) - rank(b)).flatMap(([, algorithms]) => algorithms),
    compress: ['none'],
  }
}
