#!/usr/bin/env node
// Must parse and run on an old Node: no named import of new built-ins, no static import of a dependency.
import module from 'node:module'
import {spawnSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {fileURLToPath} from 'node:url'

const major = Number(process.versions.node.split('.')[0])
const own = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
if (major < 22) {
  if (existsSync(own) && own !== process.execPath) {
    const done = spawnSync(own, process.argv.slice(1), {stdio: 'inherit'})
    process.exit(done.signal ? 130 : done.status)
  }
  process.stderr.write(`flexrack needs Node.js 22.22 or newer; this is ${process.version}. Install a newer Node, or run npm install in the checkout.\n`)
  process.exit(1)
}
module.enableCompileCache?.()
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}
const {execute} = await import('@oclif/core')
execute({dir: import.meta.url}) // not awaited on purpose: a closed pipe would leave an unsettled top-level await
