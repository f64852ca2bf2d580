// npm run codegen [-- --check]: writes native/gen from native/spec. With --check it writes nothing and fails if
// something is not current.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join, resolve} from 'node:path'
import {generate} from './files.ts'

const root = resolve(import.meta.dirname, '../..')
const files = ['opencl', 'cuda', 'nvml', 'nccl'].flatMap((api) => Object.entries(generate(root, api)))
const stale = files.filter(([path, text]) => text !== read(join(root, path)))

if (process.argv.includes('--check')) {
  for (const [path] of stale) console.error(`not current: ${path}`)
  if (stale.length > 0) console.error('run: npm run codegen')
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(root, path)), {recursive: true})
    writeFileSync(join(root, path), text)
  }
  console.log(`${files.length} files; ${stale.length} written`)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
