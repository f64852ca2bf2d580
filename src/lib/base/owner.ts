import {hostname, userInfo} from 'node:os'
import type {Context} from './context.ts'

/** Who we are to other users: `ada@laptop`. */
export function ownerName(context: Pick<Context, 'env'>): string {
  let name: string
  try {
    name = userInfo().username
  } catch {
    name = context.env.USER ?? 'unknown' // a user id without an entry, as in containers
  }
  return `${name}@${hostname()}`
}
