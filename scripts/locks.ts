/**
 * npm run locks            makes the lock files anew: the newest versions that the inputs allow, with the hashes of every file
 * npm run locks -- checks  only those of the inputs that are named
 * npm run locks -- --check says whether they belong to their inputs; needs no network
 *
 * Inputs are what ends with .in in locks, for what flexrack installs, in scripts, for what checks and builds it, beside
 * the recipes in runtimes, and in test/native/frameworks, for frameworks that are tried on the GPU in software. A lock
 * is for every platform and Python at once (environment markers), and in the form that `pip install --require-hashes`
 * takes.
 */
import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {existsSync, globSync, readFileSync} from 'node:fs'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {basename, dirname, join, relative, resolve} from 'node:path'

const root = resolve(import.meta.dirname, '..')

/**
 * An input is a requirements file whose first line says the oldest Python it is for (`# python: 3.10`). Below `# extra
 * NAME` stand packages that are installed besides, each extra in a lock of its own: NAME.txt has only what the base has
 * not, in versions that go with it and with all other extras.
 */
interface Input {
  file: string
  python: string
  base: string[]
  extras: Map<string, string[]>
  /**
   * Packages that others name and nobody here uses: they are in no lock, which is installed without looking for what is
   * missing.
   */
  without: string[]
}

function readInput(file: string): Input {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const python = /^# python: (3\.\d+)$/.exec(lines[0] ?? '')?.[1]
  if (!python) throw new Error(`${relative(root, file)}: its first line has to be like "# python: 3.10"`)
  const input: Input = {file, python, base: [], extras: new Map(), without: []}
  let group = input.base
  for (const line of lines.slice(1)) {
    const extra = /^# extra ([\w-]+)$/.exec(line)?.[1]
    const without = /^# without ([\w-]+)$/.exec(line)?.[1]
    if (without) input.without.push(without)
    else if (extra) input.extras.set(extra, (group = []))
    else if (!line.startsWith('#')) group.push(line)
  }
  return input
}

const lockOf = (input: Input, extra?: string): string =>
  join(dirname(input.file), `${basename(input.file, '.in')}${extra ? `-${extra}` : ''}.txt`)
const digestOf = (input: Input): string =>
  createHash('sha256').update(readFileSync(input.file)).digest('hex').slice(0, 16)
const headerOf = (input: Input): string =>
  `# Made by \`npm run locks\` from ${basename(input.file)} (${digestOf(input)}). Do not edit.\n`

/** `name==version ; marker \` with its hashes, by name and marker. */
function blocks(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const block of text.split(/\n(?=\S)/))
    if (/^[A-Za-z0-9]/.test(block)) found.set((block.split('\n')[0] ?? '').replace(/ \\$/, ''), block.trimEnd())
  return found
}

async function compile(
  uv: string,
  folder: string,
  input: Input,
  packages: string[],
  constraints: string,
): Promise<Map<string, string>> {
  await writeFile(join(folder, 'requirements.in'), `${packages.join('\n')}\n`)
  await writeFile(join(folder, 'constraints.txt'), constraints)
  const words = [
    'pip',
    'compile',
    '--quiet',
    '--universal',
    '--generate-hashes',
    '--no-annotate',
    '--no-header',
    '--no-emit-index-url',
    '--python-version',
    input.python,
    '-c',
    'constraints.txt',
    ...input.without.flatMap((name) => ['--no-emit-package', name]),
    'requirements.in',
  ]
  return blocks(
    execFileSync(uv, words, {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 27, stdio: ['ignore', 'pipe', 'inherit']}),
  )
}

async function makeLocks(uv: string, folder: string, input: Input): Promise<void> {
  const whole = await compile(uv, folder, input, [...input.base, ...[...input.extras.values()].flat()], '')
  const pins = [...whole.keys()].join('\n')
  const base = await compile(uv, folder, input, input.base, pins)
  await write(lockOf(input), input, [...base.values()])
  for (const [extra, packages] of input.extras) {
    const both = await compile(uv, folder, input, [...input.base, ...packages], pins)
    await write(
      lockOf(input, extra),
      input,
      [...both].filter(([name]) => !base.has(name)).map(([, block]) => block),
    )
  }
}

async function write(file: string, input: Input, found: string[]): Promise<void> {
  await writeFile(file, `${headerOf(input)}${found.join('\n')}\n`)
  console.log(`${relative(root, file)}: ${found.length} packages`)
}

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const inputs = globSync(['locks/*.in', 'scripts/*.in', 'runtimes/*/requirements.in', 'test/native/frameworks/*.in'], {
  cwd: root,
})
  .sort()
  .map((file) => readInput(join(root, file)))
  .filter((input) => wanted.length === 0 || wanted.includes(basename(input.file, '.in')))
if (process.argv.includes('--check')) {
  const stale = inputs
    .flatMap((input) =>
      [undefined, ...input.extras.keys()].map((extra) => ({file: lockOf(input, extra), header: headerOf(input)})),
    )
    .filter(({file, header}) => !existsSync(file) || !readFileSync(file, 'utf8').startsWith(header))
  for (const {file} of stale) console.error(`${relative(root, file)} does not belong to its input: npm run locks`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-locks-'))
  try {
    // The version that is locked itself, so that two who make the locks on one day make the same.
    const uv = execFileSync('python3', [join(root, 'scripts/testing/uv.py')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim()
    for (const input of inputs) await makeLocks(uv, folder, input)
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}
