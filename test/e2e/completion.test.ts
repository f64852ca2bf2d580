import {mkdtemp, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {buildProgram, flexrack, shell} from '../support/program.ts'

let home: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-completion-'))
  env = {FLEXRACK_HOME: home, XDG_CACHE_HOME: join(home, 'xdg')}
})
afterAll(() => rm(home, {recursive: true, force: true}))

it('completes topics, commands and flags in bash', async () => {
  expect(await flexrack(['autocomplete', 'bash', '--refresh-cache'], {env})).toMatchObject({status: 0})
  const file = join(home, 'xdg/flexrack/autocomplete/functions/bash/flexrack.bash')
  const complete = async (...words: string[]): Promise<string[]> => {
    const list = ['flexrack', ...words].map((word) => `'${word}'`).join(' ')
    const {stdout} = await shell(
      `source '${file}'; COMP_WORDS=(${list}); COMP_CWORD=${words.length}; $(complete -p flexrack | sed 's/.*-F \\([^ ]*\\).*/\\1/') flexrack; printf '%s\\n' "\${COMPREPLY[@]}"`,
      {env},
    )
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s/)[0] ?? '')
  }
  expect(await complete('ra')).toContain('rack')
  expect(await complete('rack', '')).toEqual(expect.arrayContaining(['list', 'show']))
  expect(await complete('local', 'up', '--no')).toContain('--nodes')
})

it('prints the line for each shell', async () => {
  for (const name of ['bash', 'zsh']) {
    const {stdout, status} = await flexrack(['autocomplete', 'script', name], {env})
    expect(status).toBe(0)
    expect(stdout).toContain(`${name}_setup`)
  }
  expect(await readdir(join(home, 'xdg/flexrack/autocomplete'))).toEqual(
    expect.arrayContaining(['bash_setup', 'zsh_setup']),
  )
})
