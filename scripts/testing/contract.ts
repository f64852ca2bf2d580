// Proves that a field of a message cannot change on one side alone: in a copy of the sources one field of a result is renamed in protocol/, the types are made
// anew, and the type checkers of both languages have to find it. Run by `npm run check`.
import {execFileSync, spawnSync} from 'node:child_process'
import {cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {pythonTools} from './python-tools.ts'
import {bin, root} from './run.ts'

/** Read in src/lib/reservation, written in verbs/reservation.py. */
const TOPIC = 'protocol/reservation.json'
const FIELD = 'granted'
const RENAMED = 'granted_at_last'

const copy = mkdtempSync(join(tmpdir(), 'flexrack-contract-'))
try {
  for (const path of ['protocol', 'src', 'scripts', 'node', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'pyproject.toml']) cpSync(join(root, path), join(copy, path), {recursive: true})
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const text = readFileSync(join(copy, TOPIC), 'utf8')
  writeFileSync(join(copy, TOPIC), text.replaceAll(`"${FIELD}"`, `"${RENAMED}"`))
  execFileSync(process.execPath, ['scripts/protocol.ts'], {cwd: copy, stdio: ['ignore', 'ignore', 'inherit']})
  const checkers: [string, string, string[]][] = [
    ['tsc', bin('tsc'), ['-p', 'tsconfig.build.json', '--noEmit']],
    // The cache of the other check would be of other files.
    ['mypy', join(await pythonTools(), 'mypy'), ['--cache-dir', join(root, 'node_modules/.cache/mypy-contract')]],
  ]
  for (const [name, command, args] of checkers) {
    const {status, stdout} = spawnSync(command, args, {cwd: copy, encoding: 'utf8'})
    if (status === 0 || !stdout.includes(FIELD)) {
      console.error(`${name} does not see that ${FIELD} of reservation.take has another name in ${TOPIC}:\n${stdout}`)
      process.exitCode = 1
    }
  }
} finally {
  rmSync(copy, {recursive: true, force: true})
}
