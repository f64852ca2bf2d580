// Runs on any Node from 18 on: starts the Node that npm put into the checkout (devDependency `node`).
import {spawn} from 'node:child_process'
import {existsSync} from 'node:fs'
import {constants} from 'node:os'
import {join} from 'node:path'

/** Runs the checkout's own Node with `args` in place of this process. False if there is none. */
export function runInOwnNode(root, args, env = process.env) {
  const node = join(root, 'node_modules', 'node', 'bin', 'node')
  if (!existsSync(node) || node === process.execPath) return false
  const child = spawn(node, args, {stdio: 'inherit', env})
  // Ctrl-C reaches the child from the terminal as well; src/cli/context.ts takes two within milliseconds for one. This
  // process only waits: were it gone first, the shell would print its prompt into the child's output.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`flexrack: ${node} does not start: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (status, signal) => process.exit(status ?? 128 + (constants.signals[signal] ?? 1)))
  return true
}
