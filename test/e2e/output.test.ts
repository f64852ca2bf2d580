import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {stripVTControlCharacters} from 'node:util'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {buildProgram, fixture, fixtureFile, shell, terminal, type Ended} from '../support/program.ts'

let home: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-output-'))
  env = {FLEXRACK_HOME: home}
})
afterAll(() => rm(home, {recursive: true, force: true}))

describe('stdout', () => {
  it('carries the answer, as text or as JSON, and nothing else', async () => {
    expect(await fixture(['answer', '{"a":1}'], {env})).toMatchObject({status: 0, stdout: 'text {"a":1}\n', stderr: ''})
    expect(await fixture(['answer', '{"a":1}', '--json'], {env})).toMatchObject({
      status: 0,
      stdout: '{\n  "a": 1\n}\n',
      stderr: '',
    })
  })

  it.each([
    ['0', '0\n'],
    ['""', '""\n'],
    ['false', 'false\n'],
    ['null', 'null\n'],
    ['[]', '[]\n'],
    ['undefined', ''],
  ])('answers %s under --json', async (value, stdout) => {
    expect((await fixture(['answer', value, '--json'], {env})).stdout).toBe(stdout)
  })

  it('has one JSON object a line where something is followed', async () => {
    const {stdout} = await fixture(['lines', '--count', '3', '--json'], {env})
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([{line: 1}, {line: 2}, {line: 3}])
  })

  it('keeps progress and warnings on stderr, as plain lines in a pipe', async () => {
    const {stdout, stderr} = await fixture(['work', '--for', '1300'], {env})
    expect(stdout).toBe('working\nsheep\nclosed\n')
    expect(stderr).toMatch(
      /^node-1: Counting sheep: 3 of 32 nodes\nnode-1: Counted sheep \(\d\.\d s\)\nwarning: some were goats\n$/,
    )
  })

  it('has only warnings beside it under --json in a pipe', async () => {
    expect((await fixture(['work', '--for', '1300', '--json'], {env})).stderr).toBe('warning: some were goats\n')
  })

  it('says nothing about work that is quick', async () => {
    expect((await fixture(['work', '--for', '10'], {env})).stderr).toBe('warning: some were goats\n')
  })
})

describe('a closed pipe', () => {
  it.each([
    ['an endless follow', '$FIXTURE lines'],
    ['an endless follow that has no context', '$FIXTURE lines --deaf'],
    ['a long output', '$FIXTURE lines --count 200000'],
    ['the help', '$FLEXRACK --help'],
  ])('ends %s quietly', async (_, program) => {
    const ended = await shell(`${program} | head -1`, {env})
    expect(ended).toMatchObject({status: 0, stderr: ''})
    expect(ended.stdout.split('\n')).toHaveLength(2)
  })

  it('ends JSON lines, too', async () => {
    expect(await shell('$FIXTURE lines --json | head -2', {env})).toMatchObject({
      status: 0,
      stdout: '{"line":1}\n{"line":2}\n',
      stderr: '',
    })
  })
})

describe('a terminal', () => {
  const clean = ({stdout}: Ended): string => stripVTControlCharacters(stdout).replaceAll('\r', '')

  it('shows work with a spinner, leaves one line of it, and shows the cursor again', async () => {
    const ended = await terminal([fixtureFile, 'work', '--for', '1500'], [], {env})
    expect(clean(ended)).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] node-1: Counting sheep 3 of 32 nodes/)
    expect(clean(ended)).toMatch(/✔ node-1: Counted sheep 1\.\d s\nwarning: some were goats\nsheep\nclosed\n$/)
    expect(ended.stdout.lastIndexOf('\u001B[?25h')).toBeGreaterThan(ended.stdout.lastIndexOf('\u001B[?25l'))
  })

  it('has no colours under NO_COLOR', async () => {
    const {stdout} = await terminal([fixtureFile, 'work', '--for', '1500'], [], {env: {...env, NO_COLOR: '1'}})
    expect(stdout).toContain('node-1: Counting sheep')
    expect(stdout).not.toMatch(/\u001B\[\d*m/)
  })

  it('asks, and takes yes and Ctrl-C for an answer', async () => {
    expect(clean(await terminal([fixtureFile, 'ask'], [['Sure?', 'y\r']], {env}))).toMatch(/\nsure\n$/)
    const stopped = await terminal([fixtureFile, 'ask'], [['Sure?', '\u0003']], {env})
    expect(stopped.status).toBe(130)
    expect(clean(stopped)).toMatch(/interrupted at a question\n$/)
  })

  it('asks nothing without a terminal, and names the flag', async () => {
    expect(await fixture(['ask'], {env})).toMatchObject({
      status: 2,
      stdout: '',
      stderr: 'error: "Sure?" must be answered, but there is no terminal to ask on\n  try: flexrack ask --yes\n',
    })
  })

  it('offers the nearest command, and a no is a usage error', async () => {
    const program = join(fixtureFile, '../../../../bin/run.js')
    const ended = await terminal([program, 'rack', 'lst'], [['Did you mean', 'n\r']], {env})
    expect(clean(ended)).toContain('Did you mean rack list?')
    expect(ended.status).toBe(2)
  })
})

describe('signals', () => {
  const once = (text: string, act: () => void): ((output: {stdout: string}) => void) => {
    let done = false
    return ({stdout}) => {
      if (!done && stdout.includes(text)) {
        done = true
        act()
      }
    }
  }

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s stops gracefully and closes what is open', async (signal) => {
    const ended = await fixture(['work'], {
      env,
      onOutput: (output, child) => once('working', () => child.kill(signal))(output),
    })
    expect(ended).toMatchObject({status: 130, stdout: 'working\nstop\nclosed\n', stderr: 'interrupted\n'})
  })

  it('a second one kills, a third one ends the process', async () => {
    // Each is sent when the one before has been seen, and not within the time in which two are taken for one.
    const stages = ['working', 'stop', 'kill']
    const ended = await fixture(['work', '--deaf'], {
      env,
      onOutput: ({stdout}, child) => {
        if (stages[0] === undefined || !stdout.includes(stages[0])) return
        stages.shift()
        setTimeout(() => child.kill('SIGINT'), 150)
      },
    })
    expect(ended).toMatchObject({status: 130, stdout: 'working\nstop\nkill\n'})
  })

  it('two within milliseconds are one, as a terminal and a parent both deliver it', async () => {
    let sent = false
    const ended = await fixture(['work'], {
      env,
      onOutput: (_, child) => {
        if (sent) return
        sent = true
        child.kill('SIGINT')
        child.kill('SIGTERM')
      },
    })
    expect(ended).toMatchObject({status: 130, stdout: 'working\nstop\nclosed\n'})
  })
})
