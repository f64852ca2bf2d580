// Builds dist/ from src/: JavaScript by tsc (types are checked by `npm test`), the head service as one file, oclif's
// manifest. Skips what is up to date, by content. Two builds may run at once, and the program may run meanwhile: every
// file is written elsewhere and renamed into place.
import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {existsSync, globSync} from 'node:fs'
import {mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const headService = join(root, 'src/lib/head/service/main.ts')
const manifestFile = join(root, 'oclif.manifest.json')
const stampFile = join(root, 'dist/.sources')

const sources = await hashFiles([
  'src/**/*.ts',
  'tsconfig*.json',
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
])
if (process.argv.includes('--force') || !(await isCurrent(sources))) {
  await build(sources).catch((error: Error) => {
    console.error(`The build failed: ${error.message}`)
    process.exitCode = 1
  })
}

async function isCurrent(hash: string): Promise<boolean> {
  const outputs = [manifestFile, ...(existsSync(headService) ? [join(root, 'dist/head-service.mjs')] : [])]
  return outputs.every((file) => existsSync(file)) && (await readFile(stampFile, 'utf8').catch(() => '')) === hash
}

async function build(hash: string): Promise<void> {
  console.error('Building flexrack ...')
  // On the same file system as what it becomes, so that renaming is possible.
  const dist = join(root, 'dist')
  await mkdir(dist, {recursive: true})
  await clearStages(dist)
  const stage = await mkdtemp(join(dist, '.stage-'))
  try {
    compile(stage)
    if (existsSync(headService)) await bundle(headService, join(stage, 'head-service.mjs'))
    await publish(stage, dist)
    await writeManifest(stage)
    await writeFile(join(stage, 'sources'), hash)
    await rename(join(stage, 'sources'), stampFile)
  } finally {
    await rm(stage, {recursive: true, force: true})
  }
}

/** What builds that were killed have left: nobody builds for an hour. */
async function clearStages(dist: string): Promise<void> {
  for (const name of (await readdir(dist)).filter((one) => one.startsWith('.stage-'))) {
    const {mtimeMs} = await stat(join(dist, name)).catch(() => ({mtimeMs: Date.now()}))
    if (Date.now() - mtimeMs > 3_600_000) await rm(join(dist, name), {recursive: true, force: true})
  }
}

function compile(folder: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['-p', join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', folder]
  execFileSync(process.execPath, [tsc, ...options], {stdio: ['ignore', 2, 2]})
}

/** One file that a bare Node runs, without node_modules. */
async function bundle(input: string, file: string): Promise<void> {
  const {build: rolldown} = await import('rolldown')
  await rolldown({input, platform: 'node', logLevel: 'warn', output: {file, format: 'esm', codeSplitting: false}})
}

/** Makes `to` hold what `from` holds, file by file; a reader sees each file old or new, never half, never missing. */
async function publish(from: string, to: string): Promise<void> {
  const fresh = new Set(await listFiles(from))
  for (const path of fresh) {
    await mkdir(dirname(join(to, path)), {recursive: true})
    await rename(join(from, path), join(to, path))
  }
  for (const path of await listFiles(to))
    if (!fresh.has(path) && !path.startsWith('.')) await rm(join(to, path), {force: true})
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true})
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

/** With it, --version and --help load no command, and a command loads only itself. */
async function writeManifest(stage: string): Promise<void> {
  const {Plugin} = await import('@oclif/core')
  const plugin = new Plugin({
    root,
    type: 'core',
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  })
  await plugin.load()
  await writeFile(join(stage, 'manifest'), JSON.stringify(plugin.manifest))
  await rename(join(stage, 'manifest'), manifestFile)
}

async function hashFiles(patterns: string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of globSync(patterns, {cwd: root}).sort()) {
    hash
      .update(`${file}\0`)
      .update(await readFile(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}
