import {homedir, userInfo} from 'node:os'
import {join} from 'node:path'
import type {SshTarget} from './types.ts'

/** Where to connect and with what: an SshTarget after ~/.ssh/config and the defaults. */
export interface Endpoint {
  /** For messages. */
  node: string
  host: string
  port: number
  user: string
  /** Absolute paths, in order. */
  identityFiles: string[]
  /** True where the files were named by somebody, not ssh's usual ones. */
  identitiesNamed: boolean
  identitiesOnly: boolean
  /** First: new keys are recorded in it. */
  knownHostsFiles: string[]
  /** The name looked up in known_hosts. */
  hostKeyAlias?: string
  hashKnownHosts: boolean
  /** The hop before this one. */
  jump?: Endpoint
}

/** Everything ssh would take into account for a target. */
export async function resolveTarget(target: SshTarget, env: NodeJS.ProcessEnv): Promise<Endpoint> {
  const home = env.HOME || homedir()
  const expand = (file: string): string => file.replace(/^~(?=\/|$)/, home)
  return {
    node: target.name,
    host: target.host,
    port: target.port ?? 22,
    user: target.user ?? userInfo().username,
    identityFiles: target.identityFile ? [expand(target.identityFile)] : ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => join(home, '.ssh', name)),
    identitiesNamed: target.identityFile !== undefined,
    identitiesOnly: false,
    knownHostsFiles: target.knownHosts ? [expand(target.knownHosts)] : [join(home, '.ssh', 'known_hosts')],
    hashKnownHosts: false,
  }
}
