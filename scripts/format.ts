/**
 * npm run format: lays out what people write here. TypeScript by .oxfmtrc.json, Python by pyproject.toml, C and C++ by
 * native/.clang-format. With --check it changes nothing and fails where a file would change.
 */
import {spawnSync} from 'node:child_process'
import {resolve} from 'node:path'
import {layouts, pythonTools} from './testing/python-tools.ts'

const cwd = resolve(import.meta.dirname, '..')
for (const {title, command, args} of layouts(await pythonTools(), process.argv.includes('--check'))) {
  const {status} = spawnSync(command, args, {cwd, stdio: 'inherit'})
  if (status === 0) continue
  console.error(`${title}: not as npm run format lays it out`)
  process.exitCode = 1
}
