/** What a standby is told of the head that it follows; its token lies beside, in HEAD_FILES.followToken. */
export interface FollowConfig {
  /** Base URL of that head. */
  url: string
  /** What to trust there, PEM: the rack's authority. */
  ca: string
  /** Name of its node, for people. */
  node: string
  /** Both are on one machine: model servers on loopback are the standby's, too. */
  near: boolean
  /** Milliseconds that it serves without having heard of that head; a week where absent. */
  trust?: number
}

/** A standby, as the head knows it that it follows. Times in milliseconds since 1970. */
export interface FollowerStatus {
  /** Of its token. */
  id: string
  node: string
  /** What it may be called by. */
  names: string[]
  /** Where it answers; null until it has. */
  url: string | null
  /** Null: not since this head was started. */
  seenAt: number | null
  /** It has asked lately, and knows all that this head knows. */
  isCurrent: boolean
}

/** How a standby follows. Times in milliseconds since 1970. */
export interface FollowingStatus {
  /** Node and base URL of the head that it follows. */
  node: string
  url: string
  /**
   * `following`; `away`: that head does not answer; `expired`: it has not for so long that nothing is served any more;
   * `dismissed`: that head refused the standby's token, and nothing is served.
   */
  state: 'following' | 'away' | 'expired' | 'dismissed'
  /** When it last answered. */
  heardAt: number
  /** Until when endpoints are served without it. */
  servesUntil: number
  /** Why it does not answer. */
  lastError: string | null
  /** Endpoints with model servers on the other head's loopback, which this one does not reach. */
  unreached: string[]
}
