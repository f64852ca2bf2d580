import {readFile} from 'node:fs/promises'
import {writeWhole} from './files.ts'

/** The public half of the key in `file`, as `ssh-ed25519 AAAA...`; makes the pair (0600) if it is not there. */
export async function ensureKey(file: string, comment: string): Promise<string> {
  const known = await readFile(`${file}.pub`, 'utf8').catch(() => undefined)
  if (known) return publicPart(known)
  const {default: ssh2} = await import('ssh2')
  const pair = ssh2.utils.generateKeyPairSync('ed25519', {comment})
  await writeWhole(file, pair.private.endsWith('\n') ? pair.private : `${pair.private}\n`)
  // The public half last: where it is, the private one is whole.
  await writeWhole(`${file}.pub`, `${pair.public.trim()}\n`)
  return publicPart(pair.public)
}

function publicPart(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(' ')
}
