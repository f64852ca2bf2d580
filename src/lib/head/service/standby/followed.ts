import {join} from 'node:path'
import type {Identity} from '../tls/certificates.ts'
import {HEAD_FILES} from '../../types.ts'
import {readDurable, writeDurably} from '../files/durable.ts'
import type {Snapshot} from './snapshot.ts'

/**
 * followed.json, 0600: all that a standby has of its head, so that it serves, too, when it is started while that head is
 * away. It holds the keys of its own two certificates, and no token.
 */
export interface Followed {
  /** Id of the token with which it was learned. */
  tokenId: string
  /** Milliseconds since 1970: when the head last answered, or a little before that. */
  heardAt: number
  /** That head has refused the token: nothing is served. */
  dismissed?: true
  listener: Identity
  gateway: Identity
  /** Absent until the first one came. */
  state?: Snapshot
  /** Whom it follows: told of it where this standby is made the head. Standbys of older versions did not keep it. */
  first?: {node: string; url: string}
}

export function readFollowed(folder: string): Promise<Followed | undefined> {
  return readDurable<Followed | undefined>('head.followed', join(folder, HEAD_FILES.followed), undefined)
}

export function writeFollowed(folder: string, followed: Followed): Promise<void> {
  return writeDurably('head.followed', join(folder, HEAD_FILES.followed), followed)
}
