#!/usr/bin/env node
// Must parse and run on an old Node: no named import of new built-ins, no static import of a dependency.
import {existsSync} from 'node:fs'
import module from 'node:module'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)
if (!existsSync(`${root}dist/cli/main.js`)) {
  process.stderr.write(`flexrack is not built yet. Run: npm --prefix ${root.slice(0, -1)} run build\n`)
  process.exitCode = 1
} else if (major > 22 || (major === 22 && minor >= 22)) {
  const {FLEXRACK_HOME, XDG_CACHE_HOME, HOME} = process.env
  const cache = FLEXRACK_HOME
    ? `${FLEXRACK_HOME}/cache`
    : XDG_CACHE_HOME || HOME
      ? `${XDG_CACHE_HOME || `${HOME}/.cache`}/flexrack`
      : undefined
  if (cache) module.enableCompileCache(`${cache}/compiled`)
  const {main} = await import('../dist/cli/main.js')
  main({root, code: 'dist'}) // not awaited on purpose: a closed pipe would leave an unsettled top-level await
} else {
  const {becomeNode, findOwnNode} = await import('./own-node.js')
  const node = findOwnNode(root)
  if (node) becomeNode(node, [...process.execArgv, ...process.argv.slice(1)])
  else {
    process.stderr.write(
      `flexrack needs Node.js 22.22 or newer; this is ${process.version}. Install a newer Node, or run npm install in the checkout.\n`,
    )
    process.exit(1)
  }
}
