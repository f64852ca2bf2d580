// npm run docs: writes what is generated from the code: docs/commands/, docs/errors.md, docs/manifest.md,
// docs/rack-file.md, docs/runtimes.md, docs/json.md (from a mark on), docs/session.svg (from docs/session.json) and
// schema/; and lays out anew what prose of any page is wider than 100 columns. With --check it writes nothing and fails
// if something is not current.
import {execFileSync, spawnSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {commandPages, type CommandInfo} from './pages/commands.ts'
import {errorsPage} from './pages/errors.ts'
import {jsonPage} from './pages/json.ts'
import {drawTerminal, type Recording} from './pages/terminal.ts'
import {wrapProse} from './pages/wrap.ts'

interface Reference {
  markdown: string
  jsonSchema: unknown
}

const root = resolve(import.meta.dirname, '..')
const recording = JSON.parse(await readFile(join(root, 'docs/session.json'), 'utf8')) as Recording
const pages: Record<string, string> = {
  ...(await commands()),
  'docs/errors.md': errorsPage(),
  ...(await references()),
  'docs/session.svg': drawTerminal(recording),
}
for (const path of await written()) pages[path] ??= await readFile(join(root, path), 'utf8')
for (const [path, text] of Object.entries(pages)) if (path.endsWith('.md')) pages[path] = wrapProse(text)
const stale: string[] = []
for (const [path, text] of Object.entries(pages)) {
  if ((await readFile(join(root, path), 'utf8').catch(() => '')) !== text) stale.push(path)
}
const gone = (await readdir(join(root, 'docs/commands')).catch(() => []))
  .map((name) => `docs/commands/${name}`)
  .filter((path) => !(path in pages))

const isCheck = process.argv.includes('--check')
// native/gen and docs/opencl-coverage.md, from native/spec.
const native = spawnSync(
  process.execPath,
  [join(root, 'native/codegen/generate.ts'), ...(isCheck ? ['--check'] : [])],
  {stdio: 'inherit'},
)
if (native.status !== 0) process.exitCode = 1

if (!isCheck) await write()
else if (stale.length + gone.length > 0) {
  console.error(`not current: ${[...stale, ...gone].join(', ')}\nrun: npm run docs`)
  process.exitCode = 1
}

async function write(): Promise<void> {
  for (const path of stale) {
    await mkdir(dirname(join(root, path)), {recursive: true})
    await writeFile(join(root, path), pages[path] ?? '')
  }
  for (const path of gone) await rm(join(root, path))
  console.log(`${Object.keys(pages).length} pages; ${stale.length} written, ${gone.length} removed`)
}

/** From oclif's manifest, which the build makes of the commands. */
async function commands(): Promise<Record<string, string>> {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], {stdio: ['ignore', 2, 2]})
  const manifest = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8')) as {
    commands: Record<string, CommandInfo>
  }
  const {oclif} = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    oclif: {topics: Record<string, {description: string}>}
  }
  const shown = Object.entries(manifest.commands)
    .filter(([, command]) => !command.hidden)
    .map(([id]) => id)
    .sort()
  return {...commandPages(Object.values(manifest.commands), oclif.topics), 'docs/json.md': jsonPage(root, shown)}
}

async function references(): Promise<Record<string, string>> {
  const made: Record<string, string> = {}
  for (const [source, name, page, schema] of [
    ['src/lib/manifest/reference.ts', 'manifestReference', 'docs/manifest.md', 'schema/flexrack.schema.json'],
    ['src/lib/rack/reference.ts', 'rackReference', 'docs/rack-file.md', 'schema/rack.schema.json'],
    ['src/lib/recipe/reference.ts', 'recipeReference', 'docs/runtimes.md', 'schema/recipe.schema.json'],
  ] as const) {
    const module = (await import(join(root, source))) as Record<string, () => Reference>
    const reference = module[name]?.()
    if (!reference) throw new Error(`${source} does not export ${name}`)
    made[page] = reference.markdown
    made[schema] = `${JSON.stringify(reference.jsonSchema, null, 2)}\n`
  }
  return made
}

/** Pages that people write. What `init` scaffolds is the projects' own, and results are written by the measurements. */
async function written(): Promise<string[]> {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(
      (path) =>
        path !== '' && !/^(templates|bench\/results|docs\/commands)\//.test(path) && existsSync(join(root, path)),
    )
}
