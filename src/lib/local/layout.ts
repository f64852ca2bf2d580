import {join} from 'node:path'
import {userPaths} from '../base/index.ts'

/** Where the parts of the local rack are. */
export interface LocalLayout {
  /** Everything of the local rack, 0700. */
  folder: string
  rack: string
  identity: string
  knownHosts: string
  log: string
  lock: string
  environments: string
  /** Groups of processes started on the nodes, one JSON line each; only where there is no /proc. */
  groups: string
  /** The rack file `local`. */
  rackFile: string
  node(name: string): {folder: string; home: string; hostKey: string}
}

export function localLayout(env: NodeJS.ProcessEnv): LocalLayout {
  const paths = userPaths(env)
  const folder = join(paths.state, 'local')
  return {
    folder,
    rack: join(folder, 'rack.json'),
    identity: join(folder, 'identity'),
    knownHosts: join(folder, 'known_hosts'),
    log: join(folder, 'daemon.log'),
    lock: join(folder, 'lock'),
    environments: join(folder, 'environments'),
    groups: join(folder, 'groups.jsonl'),
    rackFile: join(paths.config, 'racks', 'local.yaml'),
    node(name) {
      const own = join(folder, 'nodes', name)
      return {folder: own, home: join(own, 'home'), hostKey: join(own, 'host_key')}
    },
  }
}
