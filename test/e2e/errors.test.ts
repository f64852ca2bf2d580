import {mkdtemp, readdir, readFile, rm, stat} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {buildProgram, fixture, flexrack} from '../support/program.ts'

let home: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-errors-'))
  env = {FLEXRACK_HOME: home}
})
afterAll(() => rm(home, {recursive: true, force: true}))

const parsed = (stdout: string): unknown => JSON.parse(stdout) as unknown

describe('a mistyped command line', () => {
  it.each([
    ['a command', ['rack', 'lst'], 'there is no command rack lst', 'flexrack rack list'],
    ['a topic', ['rcak', 'list'], 'there is no command rcak', 'flexrack rack list'],
    ['a flag', ['rack', 'list', '--jsn'], 'there is no flag --jsn; did you mean --json?', 'flexrack rack list --json'],
    ['a value', ['local', 'up', '--nodes', 'many'], '--nodes must be an integer, not many', 'flexrack local up --help'],
    ['an argument too many', ['local', 'up', 'now'], 'local up takes no argument now', 'flexrack local up --help'],
    ['nothing like it', ['frobnicate'], 'there is no command frobnicate', 'flexrack --help'],
  ])('is answered with a way out: %s', async (_, args, message, hint) => {
    expect(await flexrack(args, {env})).toMatchObject({
      status: 2,
      stdout: '',
      stderr: `error: ${message}\n  try: ${hint}\n`,
    })
  })

  it('is a small object under --json, for commands, flags and values alike', async () => {
    for (const args of [
      ['rack', 'lst'],
      ['rack', 'list', '--frob'],
      ['local', 'up', '--nodes', 'many'],
      ['frobnicate'],
    ]) {
      const ended = await flexrack([...args, '--json'], {env})
      expect(ended).toMatchObject({status: 2, stderr: ''})
      expect(parsed(ended.stdout)).toMatchObject({
        error: {code: 'USAGE', message: expect.any(String), hint: expect.any(String)},
      })
      expect(ended.stdout.length).toBeLessThan(400)
    }
  })
})

describe('an error that is known', () => {
  it('has the exit status of its code, in both forms', async () => {
    const human = await fixture(['fail', 'known'], {env})
    expect(human).toMatchObject({
      status: 4,
      stdout: '',
      stderr: 'error: the run is held by ann\n  since: noon\n  try: flexrack runs wait\n',
    })
    const machine = await fixture(['fail', 'known', '--json'], {env})
    expect(machine).toMatchObject({status: 4, stderr: ''})
    expect(parsed(machine.stdout)).toEqual({
      error: {
        code: 'LOCKED',
        message: 'the run is held by ann',
        hint: 'flexrack runs wait',
        details: {token: '[redacted]', since: 'noon'},
      },
    })
  })

  it('shows its stack with --debug', async () => {
    const {stderr} = await fixture(['fail', 'known', '--debug'], {env})
    expect(stderr).toMatch(/CliError: the run is held by ann\n\s+at /)
    expect(stderr).not.toContain('hunter2')
  })

  it('passes a plain exit status on', async () => {
    expect(await fixture(['fail', 'exit'], {env})).toMatchObject({status: 3, stdout: '', stderr: ''})
  })

  it('is told from a bug when this machine refuses something', async () => {
    expect(await fixture(['fail', 'denied'], {env})).toMatchObject({
      status: 1,
      stderr: 'error: /secret/place: permission denied\n',
    })
  })
})

describe('a bug', () => {
  it.each(['bug', 'later', 'text'])(
    'is short on the screen and whole in a log that only its user reads: %s',
    async (how) => {
      const own = join(home, how)
      const ended = await fixture(['fail', how], {env: {FLEXRACK_HOME: own}})
      // What the command held is let go even where the error comes from a callback.
      expect(ended).toMatchObject({status: 1, stdout: how === 'later' ? 'closed\n' : ''})
      expect(ended.stderr.split('\n')).toHaveLength(4)
      expect(ended.stderr).toMatch(
        /^error: something in flexrack went wrong: .*\n {2}log: .*\n {2}try: run it again with --debug\n$/,
      )
      const folder = join(own, 'state/logs')
      const [log = ''] = await readdir(folder)
      expect(ended.stderr).toContain(join(folder, log))
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
      expect((await stat(join(folder, log))).mode & 0o777).toBe(0o600)
      const text = await readFile(join(folder, log), 'utf8')
      if (how === 'bug')
        expect(text).toMatch(/TypeError: x is not a thing\n[^]*Caused by: Error: deep down, with \[redacted\]/)
      expect(text).not.toContain('hunter2')
    },
  )

  it('is told even where no log can be written', async () => {
    const ended = await fixture(['fail', 'bug'], {env: {FLEXRACK_HOME: '/dev/null/nowhere'}})
    expect(ended.status).toBe(1)
    expect(ended.stderr).toContain('something in flexrack went wrong: x is not a thing')
  })
})
