// Proves that a field of a message cannot change on one side alone: in a copy of the sources fields are renamed in
// protocol/, the types are made anew, and the type checkers of both languages have to find it: one of a result, and two
// of what supervisors say to each other. Run by `npm run check`.
import {execFileSync, spawnSync} from 'node:child_process'
import {cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {pythonTools} from './python-tools.ts'
import {bin, root} from './run.ts'

/**
 * Read in src/lib/reservation, written in verbs/reservation.py; the others are among nodes, and known in several files
 * there.
 */
const FIELDS = [
  {
    topic: 'protocol/reservation.json',
    field: 'granted',
    renamed: 'granted_at_last',
    checkers: ['tsc', 'mypy'],
    files: 1,
  },
  {topic: 'protocol/gang.json', field: 'survivors', renamed: 'left_alive', checkers: ['mypy'], files: 3},
  {topic: 'protocol/gang.json', field: 'rendezvous', renamed: 'meeting', checkers: ['mypy'], files: 2},
]

// A cache of its own, as its files are others; it begins as that of the check of types, which has most of it.
const cache = join(root, 'node_modules/.cache/mypy-contract')
const first = join(root, 'node_modules/.cache/mypy')
if (!existsSync(cache) && existsSync(first)) cpSync(first, cache, {recursive: true})
const copy = mkdtempSync(join(tmpdir(), 'flexrack-contract-'))
try {
  for (const path of ['protocol', 'src', 'scripts', 'node', 'package.json', 'tsconfig.json', 'pyproject.toml'])
    cpSync(join(root, path), join(copy, path), {recursive: true})
  writeFileSync(join(copy, 'tsconfig.src.json'), JSON.stringify({extends: './tsconfig.json', include: ['src']}))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const {topic, field, renamed} of FIELDS)
    writeFileSync(join(copy, topic), readFileSync(join(copy, topic), 'utf8').replaceAll(`"${field}"`, `"${renamed}"`))
  execFileSync(process.execPath, ['scripts/protocol.ts'], {cwd: copy, stdio: ['ignore', 'ignore', 'inherit']})
  const checkers: [string, string, string[]][] = [
    ['tsc', bin('tsc'), ['-p', 'tsconfig.src.json']],
    ['mypy', join(await pythonTools(), 'mypy'), ['--cache-dir', cache]],
  ]
  for (const [name, command, args] of checkers) {
    const {status, stdout} = spawnSync(command, args, {cwd: copy, encoding: 'utf8'})
    for (const {topic, field, renamed, files} of FIELDS.filter(({checkers}) => checkers.includes(name))) {
      const found = new Set(
        stdout
          .split('\n')
          .filter((line) => line.includes(`"${field}"`) || line.includes(`'${field}'`) || line.includes(renamed))
          .map((line) => /^[^(:]+/.exec(line)?.[0]),
      )
      if (status !== 0 && found.size >= files) continue
      console.error(
        `${name} sees in ${found.size} files, ${files} at least, that ${field} has another name in ${topic}:\n${stdout}`,
      )
      process.exitCode = 1
    }
  }
} finally {
  rmSync(copy, {recursive: true, force: true})
}
