import {randomInt} from 'node:crypto'

/** Five letters of base32 without those that look alike (Crockford's alphabet). */
export function randomId(): string {
  return Array.from({length: 5}, () => '0123456789abcdefghjkmnpqrstvwxyz'[randomInt(32)]).join('')
}
