// Users of a rack, their teams, and the projects that they have roles in, as the head keeps them. Generated from protocol/people.json by `npm run protocol`.

/** What a person may in a project; an admin may everything in all of them. */
export type HeadRole = 'viewer' | 'member' | 'maintainer' | 'admin'

/** A person who may log in. */
export interface HeadUser {
  admin: boolean
  /** Public SSH keys that prove who it is: type and key, without a comment. */
  keys: string[]
  /** Who made it: an admin, or the first login of somebody whom a provider knows. */
  source: 'admin' | 'oidc' | 'ldap'
  /** By which the provider knows it: issuer and subject, or the entry's name. */
  subject?: string
  createdAt: number
}

/** People who are given roles together. */
export interface HeadTeam {
  /** Whom an admin put in. */
  members: string[]
  /** Whom their provider's groups put in, as of their last login. */
  provided: string[]
  createdAt: number
}

/** A project whose runs and models only some people reach. */
export interface HeadProject {
  /** By `user:NAME`, `team:NAME`, or `everyone`. */
  roles: Record<string, HeadRole>
  createdAt: number
}

/** Who may what, by names. */
export interface HeadPeople {
  users: Record<string, HeadUser>
  teams: Record<string, HeadTeam>
  projects: Record<string, HeadProject>
}
