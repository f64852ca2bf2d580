import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {buildProgram, flexrack, type Ended} from '../support/program.ts'

const root = resolve(import.meta.dirname, '../..')
/** What only a command that needs it may load: each costs 10 to 60 ms. */
const HEAVY =
  /^src\/(lib|commands)\/|(^|\/)node_modules\/(ssh2|undici|execa|inquirer|@inquirer|listr2|yaml|zod|tar|chalk|fastify)\//
let home: string

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-startup-'))
})
afterAll(() => rm(home, {recursive: true, force: true}))

/** `modules`: what is in them, by the marks of the bundler. */
async function loadedFiles(...args: string[]): Promise<{files: string[]; modules: string[]; ended: Ended}> {
  const list = join(home, `${args.join('')}.txt`)
  const hook = join(root, 'test/support/loaded-files.mjs')
  const ended = await flexrack(args, {
    nodeArguments: ['--import', hook],
    env: {LOADED_FILES: list, FLEXRACK_HOME: home},
  })
  const files = (await readFile(list, 'utf8'))
    .trim()
    .split('\n')
    .filter((file) => file !== hook)
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const modules = texts.flatMap((text, index) => {
    const marks = [...text.matchAll(/^\t*\/\/ ((?:src|node_modules)\/\S+)$/gm)].map(([, module]) => module as string)
    return marks.length > 0 ? marks : [files[index] as string]
  })
  return {files, modules, ended}
}

describe('start-up', () => {
  it.each(['--version', '--help', 'rack --help', 'rack list --help'])(
    'loads nothing heavy and no command for %s',
    async (line) => {
      const {files, modules, ended} = await loadedFiles(...line.split(' '))
      expect(ended).toMatchObject({status: 0, stderr: ''})
      expect(modules.filter((module) => HEAVY.test(module))).toEqual([])
      expect(modules).toContain('src/cli/main.ts')
      // Each file costs half a millisecond.
      expect(files.length).toBeLessThan(line === '--version' ? 5 : 20)
    },
  )

  it('loads of the commands only the one that runs, and of it no SSH, HTTP or prompts for a local answer', async () => {
    const {files, modules, ended} = await loadedFiles('rack', 'list')
    expect(ended.status).toBe(0)
    expect(files.filter((file) => file.includes('/dist/commands/'))).toEqual([join(root, 'dist/commands/rack/list.js')])
    expect(modules).toContain('src/lib/rack/load.ts')
    expect(
      modules.filter((module) => /node_modules\/(ssh2|undici|execa|@inquirer|listr2|fastify)\//.test(module)),
    ).toEqual([])
    expect(files.length).toBeLessThan(40)
  })

  it('prints the version of package.json', async () => {
    const {version} = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {version: string}
    expect((await flexrack(['--version'])).stdout).toMatch(new RegExp(`^flexrack/${version} `))
  })

  it('describes every topic and command', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8')) as {
      commands: Record<string, {summary?: string; description?: string; examples?: unknown[]; hidden?: boolean}>
    }
    const {oclif} = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      oclif: {topics: Record<string, unknown>}
    }
    const ids = Object.keys(manifest.commands)
    const topics = new Set(ids.filter((id) => id.includes(':')).map((id) => id.split(':')[0]))
    expect([...topics].filter((topic) => !(topic !== undefined && topic in oclif.topics))).toEqual([])
    const bare = Object.entries(manifest.commands).filter(
      ([, one]) => !one.hidden && !(one.summary && one.description && one.examples?.length),
    )
    expect(bare.map(([id]) => id)).toEqual([])
  })
})
