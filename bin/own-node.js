// Runs on any Node from 18 on: starts the Node that npm put into the checkout (devDependency `node`).
import {spawn} from 'node:child_process'
import {existsSync} from 'node:fs'
import {constants} from 'node:os'
import {join} from 'node:path'

/** The checkout's own Node; undefined if there is none, or if it is the one that runs this. */
export function findOwnNode(root) {
  const node = join(root, 'node_modules', 'node', 'bin', 'node')
  return existsSync(node) && node !== process.execPath ? node : undefined
}

/** Runs `node` with `args` in place of this process: same terminal, signals passed on, its exit status ours. */
export function becomeNode(node, args, env = process.env) {
  // Ctrl-C reaches the child from the terminal as well; by FLEXRACK_LAUNCHER, src/cli/base/context.ts knows to take the two
  // for one.
  const child = spawn(node, args, {stdio: 'inherit', env: {...env, FLEXRACK_LAUNCHER: String(process.pid)}})
  // This process only waits: were it gone first, the shell would print its prompt into the child's output.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`${node} does not start: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (status, signal) => process.exit(status ?? 128 + (constants.signals[signal] ?? 1)))
}
