import {resolve} from 'node:path'
import {describe, expect, it} from 'vitest'
import {errorJson, errorText, isJsonWanted} from '../../../../src/cli/errors/show.ts'
import {usageError} from '../../../../src/cli/errors/usage.ts'
import {CliError, Secret} from '../../../../src/lib/base/index.ts'

describe('an error for people', () => {
  it('is one sentence, its details, and a command to paste', () => {
    const error = new CliError('NOT_FOUND', 'rack local has no node node-9', {
      hint: 'flexrack rack show local',
      details: {have: ['node-1', 'node-2'], port: 22},
    })
    expect(errorText(error)).toBe(
      'error: rack local has no node node-9\n  have: node-1, node-2\n  port: 22\n  try: flexrack rack show local',
    )
  })

  it('lists every node where some failed', () => {
    const nodes = [
      {node: 'node-1', ok: true},
      {node: 'node-2', ok: false, code: 'NODE_UNREACHABLE', message: 'no route'},
    ]
    expect(
      errorText(new CliError('SOME_NODES_FAILED', '1 of 2 nodes failed: node-2', {details: {nodes}}))
        .split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual([
      'error: 1 of 2 nodes failed: node-2',
      '  NODE    STATE             MESSAGE',
      '  node-1  ok                -',
      '  node-2  NODE_UNREACHABLE  no route',
    ])
  })

  it('shows the problems of a file with their place and source line, and says nothing twice', () => {
    const problem = {
      file: resolve('flexrack.yaml'),
      line: 3,
      column: 5,
      message: 'unknown key comand',
      excerpt: '3 |     comand: x\n  |     ^^^^^^',
    }
    const two = new CliError('MANIFEST_INVALID', 'flexrack.yaml has 2 errors', {
      details: {file: problem.file, problems: [problem, {...problem, line: 9}]},
    })
    expect(errorText(two).split('\n').slice(1, 5)).toEqual([
      '  flexrack.yaml:3:5: unknown key comand',
      '    3 |     comand: x',
      '      |     ^^^^^^',
      '  flexrack.yaml:9:5: unknown key comand',
    ])
    const one = new CliError('MANIFEST_INVALID', 'flexrack.yaml:3:5: unknown key comand', {
      details: {problems: [problem]},
    })
    expect(errorText(one).split('\n').slice(1)).toEqual(['  3 |     comand: x', '    |     ^^^^^^'])
  })
})

describe('an error under --json', () => {
  it('has code, message, hint and details, and nothing else it carries', () => {
    const error = new CliError('LOCKED', 'held by ann', {
      hint: 'wait',
      details: {since: 'noon'},
      cause: new Error('secret cause'),
    })
    expect(errorJson(error)).toEqual({code: 'LOCKED', message: 'held by ann', hint: 'wait', details: {since: 'noon'}})
    expect(errorJson(new CliError('BUG', 'x'))).toEqual({code: 'BUG', message: 'x'})
  })

  it('never shows a secret', () => {
    const error = new CliError('REFUSED', 'no', {details: {token: new Secret('hunter2')}})
    expect(JSON.stringify(errorJson(error))).not.toContain('hunter2')
    expect(errorText(error)).not.toContain('hunter2')
  })

  it('is wanted by --json before any --, or by the environment', () => {
    expect(isJsonWanted(['rack', 'list', '--json'], {})).toBe(true)
    expect(isJsonWanted(['exec', '--', 'ls', '--json'], {})).toBe(false)
    expect(isJsonWanted([], {FLEXRACK_CONTENT_TYPE: 'JSON'})).toBe(true)
  })
})

describe('usageError', () => {
  class NonExistentFlagsError extends Error {
    parse = {input: {flags: {nodes: {char: 'n'}, grace: {}, secret: {hidden: true}}}}
    flags: string[]
    constructor(flags: string[]) {
      super(`Nonexistent flag: ${flags.join(', ')}\nSee more help with --help`)
      this.flags = flags
    }
  }

  it('names the nearest flag', () => {
    expect(usageError(new NonExistentFlagsError(['--ndoes']), 'local:up')).toMatchObject({
      code: 'USAGE',
      message: 'there is no flag --ndoes; did you mean --nodes?',
      hint: '--nodes',
      exitCode: 2,
    })
  })

  it('guesses neither what is far off nor what is hidden', () => {
    expect(usageError(new NonExistentFlagsError(['--wallpaper']), 'local:up')).toMatchObject({
      hint: 'flexrack local up --help',
    })
    expect(usageError(new NonExistentFlagsError(['--secrt']), 'local:up')?.hint).toBe('flexrack local up --help')
  })

  it('names what is missing', () => {
    class RequiredArgsError extends Error {
      parse = {}
      args = [{name: 'rack', description: 'name of the rack'}, {name: 'host'}]
    }
    expect(usageError(new RequiredArgsError('Missing 2 required args:'), 'rack:add')?.message).toBe(
      'missing RACK (name of the rack), HOST',
    )
  })

  it.each([
    ['The following error occurred:\n  Missing required flag to', 'missing --to'],
    [
      'The following error occurred:\n  --overwrite=true cannot also be provided when using --to',
      '--overwrite cannot be given together with --to',
    ],
    ['Expected --by=moon to be one of: user, node', '--by must be one of user, node, not moon'],
  ])('says in plain words: %j', (text, plain) => {
    const error = Object.assign(new Error(`${text}\nSee more help with --help`), {oclif: {exit: 2}})
    expect(usageError(error, 'gpu:idle')?.message).toBe(plain)
  })

  it('leaves other errors alone', () => {
    expect(usageError(new Error('x'))).toBeUndefined()
    expect(usageError(new TypeError('y'))).toBeUndefined()
  })
})
