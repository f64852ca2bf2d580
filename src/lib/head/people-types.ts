import type {HeadRole, HeadUser} from '../protocol/index.ts'

/** Answer of a login, and of a token that was made. Times in milliseconds since 1970. */
export interface MadeToken {
  id: string
  user: string
  token: string
  expiresAt: number
}

/** A token as it is listed: never its secret. */
export interface UserToken {
  id: string
  user: string
  note: string
  project: string | null
  role: HeadRole | null
  createdAt: number
  expiresAt: number
  /** To some minutes; null: never. */
  lastUsedAt: number | null
}

/** Answer of GET /flexrack/v1/whoami. */
export interface WhoAmI {
  /** Null: the admin token, which whoever may enter the head's account has. */
  user: string | null
  admin: boolean
  teams: string[]
  /** The role in every project that it has one in; of an admin all projects. */
  projects: Record<string, HeadRole>
  /** Of a user: the token that asks. */
  token: UserToken | null
}

/** Answer of GET /flexrack/v1/people: all of an admin, else what concerns the user who asks. */
export interface PeopleFacts {
  users: Record<
    string,
    Pick<HeadUser, 'admin' | 'source' | 'createdAt'> & {keys: number; teams: string[]; lastUsedAt: number | null}
  >
  teams: Record<string, {members: string[]; provided: string[]}>
  projects: Record<string, {roles: Record<string, HeadRole>}>
}

/** How somebody may log in, and where from: answer of GET /flexrack/v1/login/ways. */
export interface LoginWays {
  ssh: boolean
  oidc: string | null
  ldap: string | null
}

/** Who else knows users, without secrets. `problems`: why one cannot be asked just now; null: it can, or there is none. */
export interface HeadIdentity {
  oidc: {
    issuer: string
    client_id: string
    name_claim: string
    groups_claim: string
    scope: string
    ca?: string
  } | null
  ldap: {
    url: string
    starttls: boolean
    base: string
    attribute: string
    bind_dn?: string
    group_base?: string
    ca?: string
  } | null
  /** Team by group. */
  teams: Record<string, string>
  problems: {oidc: string | null; ldap: string | null}
}

/** Where somebody says to their provider that it is them. */
export interface DeviceCode {
  /** By which the head is asked what came of it; a secret. */
  id: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string | null
  expiresAt: number
}
