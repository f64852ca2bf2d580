// Builds dist/ from src/ with rolldown: the command line as one file a command, with shared chunks (types are checked by
// `npm test`), the head service as one file, oclif's manifest. Skips what is up to date, by content. Two builds may run
// at once, and the program may run meanwhile: every file is written elsewhere and renamed into place.
import {createHash} from 'node:crypto'
import {existsSync, globSync} from 'node:fs'
import {mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import type {RolldownOutput} from 'rolldown'
import {licencesOf} from './build/licences.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const headService = join(root, 'src/lib/head/service/main.ts')
const manifestFile = join(root, 'oclif.manifest.json')
const stampFile = join(root, 'dist/.sources')
const goneFile = join(root, 'dist/.gone')
/** Besides the commands: what bin/run.js and oclif load by name, and a process of its own. */
const ENTRIES = ['cli/main.ts', 'cli/base/help.ts', 'cli/base/not-found.ts', 'lib/local/daemon.ts']
/** Only where flexrack runs from its sources; only where whoever installed ssh2 had a compiler. */
const FOUND_AT_RUN_TIME = ['rolldown', 'cpu-features']
/** How long chunks stay that no build has any more: a sweep in the background may still come to load one. */
const KEPT_DAYS = 14

const sources = await hashFiles([
  'src/**/*.ts',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/build/*.ts',
])
if (process.argv.includes('--force') || !(await isCurrent(sources))) {
  await build(sources).catch((error: Error) => {
    console.error(`The build failed: ${error.message}`)
    process.exitCode = 1
  })
}

if (process.argv.includes('--pack')) await removeOld(join(root, 'dist'), Object.keys(await readGone()), Infinity)

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
    const built = [await bundleCommandLine(stage)]
    if (existsSync(headService)) built.push(await bundleHead(join(stage, 'head-service.mjs')))
    const modules = built.flatMap(({output}) => output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : [])))
    await writeFile(join(stage, 'licences.txt'), await licencesOf(modules))
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

/**
 * One file a command, which loads what it needs: names of chunks have a hash, so a program that runs meanwhile never
 * finds another one's. Nothing is minified: stack traces name functions.
 */
async function bundleCommandLine(folder: string): Promise<RolldownOutput> {
  const {build: rolldown} = await import('rolldown')
  const names = [...globSync('commands/**/*.ts', {cwd: join(root, 'src')}), ...ENTRIES]
  return rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name.replace(/\.ts$/, ''), join(root, 'src', name)])),
    platform: 'node',
    logLevel: 'warn',
    external: FOUND_AT_RUN_TIME,
    // oclif's core looks for files beside its own, and goes on without.
    transform: {define: {__dirname: 'import.meta.dirname'}},
    plugins: [{name: 'native-bindings', resolveId: keepBinding}],
    output: {
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    },
  })
}

/** A package's compiled part stays in the package, where its user may have it: `ssh2/lib/.../sshcrypto.node`. */
function keepBinding(source: string, importer?: string): {id: string; external: true} | undefined {
  const folder = /.*\/node_modules\/(.*)\//.exec(importer ?? '')?.[1]
  return source.endsWith('.node') && folder ? {id: join(folder, source), external: true} : undefined
}

/** One file that a bare Node runs, without node_modules. */
async function bundleHead(file: string): Promise<RolldownOutput> {
  const {build: rolldown} = await import('rolldown')
  return rolldown({
    cwd: root,
    input: headService,
    platform: 'node',
    logLevel: 'warn',
    output: {file, format: 'esm', codeSplitting: false},
  })
}

/** Makes `to` hold what `from` holds, file by file; a reader sees each file old or new, never half, never missing. */
async function publish(from: string, to: string): Promise<void> {
  const fresh = new Set(await listFiles(from))
  for (const path of fresh) {
    await mkdir(dirname(join(to, path)), {recursive: true})
    await rename(join(from, path), join(to, path))
  }
  const gone = (await listFiles(to)).filter((path) => !fresh.has(path) && !path.startsWith('.'))
  await removeOld(
    to,
    gone.filter((path) => path.startsWith('chunks/')),
    Date.now(),
  )
  for (const path of gone.filter((one) => !one.startsWith('chunks/'))) await rm(join(to, path), {force: true})
}

/** Removes of `chunks`, which no build has any more, those whose time is over. */
async function removeOld(folder: string, chunks: string[], now: number): Promise<void> {
  const known = await readGone()
  const since = Object.fromEntries(chunks.map((path) => [path, known[path] ?? now]))
  for (const path of chunks) {
    if (now - (since[path] as number) < KEPT_DAYS * 86_400_000) continue
    await rm(join(folder, path), {force: true})
    delete since[path]
  }
  await writeFile(`${goneFile}.${process.pid}`, JSON.stringify(since))
  await rename(`${goneFile}.${process.pid}`, goneFile)
}

/** Since when (ms) no build has a chunk any more, by its path. */
async function readGone(): Promise<Record<string, number>> {
  return JSON.parse(await readFile(goneFile, 'utf8').catch(() => '{}')) as Record<string, number>
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
