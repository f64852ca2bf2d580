// node scripts/with-node.mjs SCRIPT [ARGS...]: runs one of our TypeScript scripts in the Node it needs, after
// installing the packages and building what is missing or stale. Runs on any Node from 18 on, with nothing installed.
import {spawnSync} from 'node:child_process'
import {existsSync, readFileSync} from 'node:fs'
import {delimiter, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {becomeNode} from '../bin/own-node.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const node = join(root, 'node_modules', 'node', 'bin', 'node')
const [script, ...args] = process.argv.slice(2)
// So that what the script starts as `node` or by name is the checkout's too.
const env = {...process.env, PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter)}

if (!isInstalled()) {
  // `npm ci` empties node_modules first, under whatever runs from there; what is there already is only brought up to
  // date.
  const verb = existsSync(join(root, 'node_modules')) ? 'install' : 'ci'
  process.stderr.write(`Installing npm packages (npm ${verb}; the first time takes about a minute) ...\n`)
  // Install scripts run for one package only: `node`, which fetches its binary. Others would try to compile.
  npm([verb, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
}
if (!existsSync(node)) npm(['rebuild', 'node', '--foreground-scripts=false', '--loglevel=error'])
if (!existsSync(node)) fail(`npm did not bring ${node}; remove node_modules and try again`)
run(node, [join(root, 'scripts', 'build.ts')])
becomeNode(node, [join(root, script), ...args], env)

/**
 * True if every package of package-lock.json is there in its version (npm notes what it installed in a lock file of its
 * own).
 */
function isInstalled() {
  const wanted = packages('package-lock.json')
  const found = packages('node_modules/.package-lock.json')
  return Object.entries(wanted).every(
    ([path, one]) => path === '' || (found[path] ? found[path].version === one.version : one.optional),
  )
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages
  } catch {
    return {}
  }
}

/** npm by the file that runs us where `npm run` does, so that the same npm is used; its output goes to stderr. */
function npm(words) {
  const file = process.env.npm_execpath
  if (file && file.endsWith('.js')) run(process.execPath, [file, ...words])
  else run('npm', words)
}

function run(command, words) {
  const done = spawnSync(command, words, {cwd: root, env, stdio: ['ignore', 2, 2]})
  if (done.error) fail(`${command} does not start: ${done.error.message}`)
  if (done.signal) process.exit(130)
  if (done.status !== 0) fail(`${command === process.execPath ? words[0] : command} ended with status ${done.status}`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
