import {execFileSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {homedir, userInfo} from 'node:os'
import {dirname, join} from 'node:path'

/** What the daemon needs of the environment of the one who starts it; becomes its own environment. */
export interface StarterSettings {
  /** Environment of every session, besides what differs between nodes. */
  base: Record<string, string>
  /** Python for the pty bridge; undefined: no terminals. */
  python: string | undefined
}

const STANDARD_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const PASSED_ON = [
  'LANG',
  'FLEXRACK_RESERVATIONS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
]

/**
 * The environment of a standard server, plus what is needed to install packages from here: a node on this machine
 * would otherwise not know this machine's proxy, package index, certificates and Python.
 */
export function starterSettings(env: NodeJS.ProcessEnv): StarterSettings {
  const base: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue
    if (PASSED_ON.includes(name) || /^(pip|uv)_/i.test(name) || /_proxy$/i.test(name)) base[name] = value
  }
  const python = findPython(env)
  base.PATH = [...(python && !STANDARD_PATH.includes(dirname(python)) ? [dirname(python)] : []), ...STANDARD_PATH].join(
    ':',
  )
  const home = env.HOME || homedir()
  // The user's own cache: a package that is here already is not fetched once more for every node.
  base.PIP_CACHE_DIR ??=
    process.platform === 'darwin'
      ? join(home, 'Library/Caches/pip')
      : join(env.XDG_CACHE_HOME || join(home, '.cache'), 'pip')
  const pipConfig = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'pip', 'pip.conf')
  if (base.PIP_CONFIG_FILE === undefined && existsSync(pipConfig)) base.PIP_CONFIG_FILE = pipConfig
  const uvConfig = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'uv', 'uv.toml')
  if (base.UV_CONFIG_FILE === undefined && existsSync(uvConfig)) base.UV_CONFIG_FILE = uvConfig
  return {base, python}
}

/** The user's login shell, as sshd would take it; /bin/sh where there is none that runs commands. */
export function loginShell(): string {
  const shell = userInfo().shell ?? ''
  return shell === '' || /(nologin|false)$/.test(shell) || !existsSync(shell) ? '/bin/sh' : shell
}

/** The interpreter itself, not a shim (pyenv, asdf): those look for their settings in a home that is not the node's. */
function findPython(env: NodeJS.ProcessEnv): string | undefined {
  try {
    const code = 'import os,sys; print(os.path.join(sys.base_prefix, "bin", "python3"))'
    const found = execFileSync('python3', ['-c', code], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 10_000,
    }).trim()
    return existsSync(found) ? found : undefined
  } catch {
    return undefined
  }
}
