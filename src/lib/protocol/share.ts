// Folders that one account of a node shares with another. Generated from protocol/share.json by `npm run protocol`.

/** An invitation, as it lies where both accounts can read it. */
export interface ShareRecord {
  id: string
  name: string
  /** Absolute. */
  folder: string
  /** Account. */
  owner: string
  owner_uid: number
  /** The account that is invited. */
  user: string
  user_uid: number
  access: 'read' | 'write'
  /** Seconds since 1970; null: until it is taken back. */
  until: number | null
  created: number
  /** Folders above that the account may pass for it. */
  opened: string[]
  /** What beside them was closed to it. */
  closed: string[]
  /** Path of bubblewrap; null with read. */
  sandbox: string | null
}

export interface ShareAnswer {
  answer: 'accepted' | 'declined' | null
  /** A public key of OpenSSH, without its comment. */
  key: string | null
}

/** `waiting`: accepted, and there is no key yet to come in with. */
export type ShareState = 'invited' | 'waiting' | 'accepted' | 'declined' | 'expired'

export interface Share {
  id: string
  name: string
  folder: string
  owner: string
  user: string
  access: 'read' | 'write'
  until: number | null
  state: ShareState
}

export interface Shares {
  account: string
  given: Share[]
  received: Share[]
}

export interface ShareOrder {
  /** Absolute, or below the account's home with ~/. */
  folder: string
  user: string
  access: 'read' | 'write'
  /** Null: the last part of the folder. */
  name: string | null
  until: number | null
  /** The other's public key, where it is known. */
  key?: string | null
}

export interface ShareMade {
  share: Share
  /** Files and folders in it that belong to others, and are not shared. */
  skipped: number
}

export interface ShareReply {
  owner: string
  name: string
  accept: boolean
  key?: string | null
}

export interface ShareReplied {
  share: Share
  /** A link to the folder, for reading; null where it is declined, or written through the door. */
  path: string | null
}

export interface ShareEnd {
  name: string
  /** Null: with whomever. */
  user: string | null
}

export interface ShareEnded {
  ended: Share[]
  /** Entries whose rights could not be taken back: they belong to others. */
  left: number
}

export interface ShareVerbs {
  /** Invites an account to a folder. */
  'share.add': {input: ShareOrder; result: ShareMade; event: never}
  /** What this account shares, and what is shared with it. */
  'share.list': {input: null; result: Shares; event: never}
  /** Accepts an invitation, or declines it. */
  'share.reply': {input: ShareReply; result: ShareReplied; event: never}
  /** Takes a share back. */
  'share.remove': {input: ShareEnd; result: ShareEnded; event: never}
}
