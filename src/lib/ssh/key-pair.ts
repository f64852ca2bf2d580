import {textIfThere, writeWhole} from '../base/index.ts'

/** The public half of the key in `file`, as `ssh-ed25519 AAAA...`; makes the pair (0600) if it is not there. */
export async function ensureKey(file: string, comment: string): Promise<string> {
  const known = await textIfThere(`${file}.pub`)
  if (known) return publicPart(known)
  const pair = await generatePair(comment)
  await writeWhole(file, pair.private)
  // The public half last: where it is, the private one is whole.
  await writeWhole(`${file}.pub`, pair.public)
  return publicPart(pair.public)
}

const TRIES = 20

/** An ed25519 pair that works: of those that ssh2 1.17 makes, one in some hundred cannot be read back. */
async function generatePair(comment: string): Promise<{public: string; private: string}> {
  const {default: ssh2} = await import('ssh2')
  const probe = Buffer.from('probe')
  for (let tries = 0; tries < TRIES; tries += 1) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', {comment})
    const [own, other] = [ssh2.utils.parseKey(pair.private), ssh2.utils.parseKey(pair.public)]
    if (own instanceof Error || other instanceof Error) continue
    if (other.verify(probe, own.sign(probe)) === true)
      return {private: `${pair.private.trimEnd()}\n`, public: `${pair.public.trim()}\n`}
  }
  throw new Error('no usable key could be generated')
}

function publicPart(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(' ')
}
