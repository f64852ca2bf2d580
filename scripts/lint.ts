// npm run lint: oxlint with .oxlintrc.json, then the rules of architecture.md that it has no words for.
import {execFileSync, spawnSync} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join, resolve} from 'node:path'
import {checkFile, countLines} from './rules/files.ts'
import {checkImports, type SourceFile} from './rules/imports.ts'
import {checkNative} from './rules/native.ts'

/** Lines of the middle one of the source files, by size. */
const MEDIAN = 80

const root = resolve(import.meta.dirname, '..')
const oxlint = spawnSync(
  process.execPath,
  [join(root, 'node_modules/oxlint/bin/oxlint'), '--deny-warnings', ...process.argv.slice(2)],
  {cwd: root, stdio: 'inherit'},
)
const files = listFiles()
const sources = files.filter((file) => /^src\/.*\.ts$/.test(file.path))
const findings = [
  ...files.flatMap((file) => checkFile(file, ownPlaces())),
  ...files.flatMap(checkNative),
  ...sources.flatMap(checkImports),
]
const sizes = sources.map((file) => countLines(file.text)).sort((a, b) => a - b)
const median = sizes[Math.floor(sizes.length / 2)] ?? 0
if (median > MEDIAN) findings.push(`src: the median file has ${median} lines; ${MEDIAN} at most`)

for (const finding of findings) console.error(finding)
console.log(
  `${sources.length} files in src: median ${median} lines, longest ${sizes.at(-1) ?? 0}; ${findings.length} findings beside oxlint's`,
)
process.exitCode = oxlint.status !== 0 || findings.length > 0 ? 1 : 0

/** Every text file that is, or is about to be, in the repository. */
function listFiles(): SourceFile[] {
  const names = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], {cwd: root, encoding: 'utf8'}).split(
    '\0',
  )
  return names
    .filter((name) => name !== '')
    .flatMap((path) => {
      try {
        const text = readFileSync(join(root, path), 'utf8')
        return text.includes('\0') ? [] : [{path, text}]
      } catch {
        return [] // deleted, not yet committed; or a link to a folder
      }
    })
}

/** Where this checkout lies is nobody else's business: a file that names it works here only. */
function ownPlaces(): string[] {
  const parent = dirname(root)
  const general = ['/', '/home', '/root', '/Users', '/usr', '/opt', '/srv', '/mnt', '/var', '/tmp', tmpdir()]
  return [root, ...(general.includes(parent) ? [] : [`${parent}/`])]
}
