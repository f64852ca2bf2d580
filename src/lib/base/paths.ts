import {homedir} from 'node:os'
import {join} from 'node:path'

/** Where flexrack keeps things on the user's machine. */
export interface Paths {
  /** Rack files and settings: $XDG_CONFIG_HOME/flexrack. */
  config: string
  /** What flexrack remembers: local racks, run index, logs: $XDG_STATE_HOME/flexrack. Folders 0700. */
  state: string
  /** What can be made again: $XDG_CACHE_HOME/flexrack. */
  cache: string
}

/** FLEXRACK_HOME moves all three below one folder (tests, several setups side by side). */
export function userPaths(env: NodeJS.ProcessEnv = process.env): Paths {
  const own = env.FLEXRACK_HOME
  if (own) return {config: join(own, 'config'), state: join(own, 'state'), cache: join(own, 'cache')}
  const home = env.HOME || homedir()
  return {
    config: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'flexrack'),
    state: join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'flexrack'),
    cache: join(env.XDG_CACHE_HOME || join(home, '.cache'), 'flexrack'),
  }
}
