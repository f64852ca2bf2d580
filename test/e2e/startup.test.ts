import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {buildProgram, flexrack, type Ended} from '../support/program.ts'

const root = resolve(import.meta.dirname, '../..')
/** What only a command that needs it may load: each costs 10 to 60 ms. */
const HEAVY = /\/dist\/lib\/|\/node_modules\/(ssh2|undici|execa|inquirer|@inquirer|listr2|yaml|zod|tar|chalk|fastify)\//
let home: string

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-startup-'))
})
afterAll(() => rm(home, {recursive: true, force: true}))

async function loadedFiles(...args: string[]): Promise<{files: string[]; ended: Ended}> {
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
  return {files, ended}
}

describe('start-up', () => {
  it.each(['--version', '--help', 'rack --help', 'rack list --help'])(
    'loads nothing heavy and no command for %s',
    async (line) => {
      const {files, ended} = await loadedFiles(...line.split(' '))
      expect(ended).toMatchObject({status: 0, stderr: ''})
      expect(files.filter((file) => HEAVY.test(file) || file.includes('/dist/commands/'))).toEqual([])
      // Nearly all of them are oclif's core; with a command's own imports it would be hundreds more.
      expect(files.length).toBeLessThan(line === '--version' ? 10 : 200)
      expect(files.filter((file) => file.startsWith(join(root, 'dist'))).length).toBeLessThan(5)
    },
  )

  it('loads of the commands only the one that runs, and of it no SSH, HTTP or prompts for a local answer', async () => {
    const {files, ended} = await loadedFiles('rack', 'list')
    expect(ended.status).toBe(0)
    expect(files.filter((file) => file.includes('/dist/commands/'))).toEqual([join(root, 'dist/commands/rack/list.js')])
    expect(files.filter((file) => /\/node_modules\/(ssh2|undici|execa|@inquirer|listr2|fastify)\//.test(file))).toEqual(
      [],
    )
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
