import {createHash} from 'node:crypto'
import {mkdir, rename, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {CliError, hashFile, ownRoot, runsFromSources, userPaths, type Context, textIfThere} from '../base/index.ts'

/** A file to put on the head's node: its name there has its content's hash. */
export interface ProgramFile {
  name: string
  /** Here. */
  file: string
  sha256: string
}

/** The head's process as one file: built with flexrack, or bundled on the spot where flexrack runs from its sources. */
export async function loadHeadProgram(context: Context): Promise<ProgramFile> {
  const file = runsFromSources ? await bundleSources(context) : join(ownRoot(), 'dist/head-service.mjs')
  const sha256 = await hashFile(file).catch((error: unknown) => {
    throw new CliError('BUG', `the head's program ${file} cannot be read`, {cause: error})
  })
  return {name: `head-service-${sha256.slice(0, 16)}.mjs`, file, sha256}
}

/** This machine's own Node, for a node that has none. */
export async function loadOwnNode(): Promise<ProgramFile> {
  const sha256 = await hashFile(process.execPath)
  return {name: `node-${sha256.slice(0, 16)}`, file: process.execPath, sha256}
}

async function bundleSources(context: Context): Promise<string> {
  const {rolldown} = await import('rolldown')
  const bundle = await rolldown({
    input: join(ownRoot(), 'src/lib/head/service/main.ts'),
    platform: 'node',
    logLevel: 'silent',
  })
  const {output} = await bundle.generate({format: 'esm', codeSplitting: false})
  await bundle.close()
  const code = output[0].code
  const folder = join(userPaths(context.env).cache, 'head')
  const file = join(folder, `head-service-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`)
  await mkdir(folder, {recursive: true, mode: 0o700})
  if ((await textIfThere(file)) !== code) {
    await writeFile(`${file}.${process.pid}`, code)
    await rename(`${file}.${process.pid}`, file)
  }
  return file
}
