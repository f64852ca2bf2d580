import {Failure} from '../failure.ts'

const MOST_KEYS = 20
const LONGEST_KEY = 8192
const KEY =
  /^((?:sk-)?(?:ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp(?:256|384|521))(?:@openssh\.com)?) ([A-Za-z0-9+/]+={0,2})(?: .*)?$/

/** Public keys as of a .pub file, without their comments: nothing else of theirs may get into a file of signers. Errors: 400. */
export function keysOf(given: unknown): string[] {
  if (!Array.isArray(given) || given.length > MOST_KEYS)
    throw new Failure(400, 'USAGE', `keys is a list of at most ${MOST_KEYS} public SSH keys`)
  const keys = given.map((one: unknown) => {
    const [, type, key] = (typeof one === 'string' && one.length <= LONGEST_KEY && KEY.exec(one.trim())) || []
    if (type === undefined || key === undefined || typeIn(key) !== type)
      throw new Failure(
        400,
        'USAGE',
        'a key is a line of a .pub file: ssh-ed25519, ecdsa, rsa, or one on a security key',
      )
    return `${type} ${key}`
  })
  return [...new Set(keys)]
}

/** The key says of itself what it is. */
function typeIn(key: string): string {
  const bytes = Buffer.from(key, 'base64')
  const length = bytes.length >= 4 ? bytes.readUInt32BE(0) : 0
  return bytes.subarray(4, 4 + length).toString('latin1')
}
