import {join, resolve} from 'node:path'
import {userPaths} from '../base/index.ts'

/** Where the parts of the local rack are. */
export interface LocalLayout {
  /** Everything of the local rack, 0700. */
  folder: string
  rack: string
  identity: string
  knownHosts: string
  log: string
  /** Outside of the folder, which may be removed under it. */
  lock: string
  environments: string
  /** Groups of processes started on the nodes, one JSON line each; only where there is no /proc. */
  groups: string
  /** Named pipes that wait to be used. */
  pipes: string
  /** The rack file `local`. */
  rackFile: string
  node(name: string): {folder: string; home: string; hostKey: string}
}

export function localLayout(env: NodeJS.ProcessEnv): LocalLayout {
  const paths = userPaths(env)
  // Absolute: the background process works in another folder than the one who starts it.
  const state = resolve(paths.state)
  const folder = join(state, 'local')
  return {
    folder,
    rack: join(folder, 'rack.json'),
    identity: join(folder, 'identity'),
    knownHosts: join(folder, 'known_hosts'),
    log: join(folder, 'daemon.log'),
    lock: join(state, 'local.lock'),
    environments: join(folder, 'environments'),
    pipes: join(folder, 'pipes'),
    groups: join(folder, 'groups.jsonl'),
    rackFile: join(resolve(paths.config), 'racks', 'local.yaml'),
    node(name) {
      const own = join(folder, 'nodes', name)
      return {folder: own, home: join(own, 'home'), hostKey: join(own, 'host_key')}
    },
  }
}
