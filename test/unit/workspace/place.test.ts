import {execFileSync} from 'node:child_process'
import {expect, test} from 'vitest'
import {workspaceScript, type PlacedWorkspace} from '../../../src/lib/workspace/index.ts'

const placed: PlacedWorkspace = {
  node: 'node-1',
  project: 'digits',
  path: "/r/it's",
  code: "/r/it's/code",
  owner: null,
  source: null,
  syncedAt: '2026-01-01T00:00:00Z',
  files: 1,
  image: null,
  enter: [],
  environment: {hash: 'aa', path: '/r/environments/aa', python: '3.11.2', ready: true},
  processes: [],
}

test('runs words in the code folder with the environment first on the path, whatever is in them', () => {
  expect(workspaceScript(placed, {A: '1'}, ['python', '-c', 'print("$x")'])).toEqual({
    script: `cd '/r/it'\\''s/code' || exit 1\nunset PYTHONHOME\nPATH=/r/environments/aa/bin:"$PATH"; export PATH\nexec python -c 'print("$x")'\n`,
    env: {
      VIRTUAL_ENV: '/r/environments/aa',
      A: '1',
      FLEXRACK_WORKSPACE: 'digits',
      FLEXRACK_WORKSPACE_FOLDER: "/r/it's",
    },
  })
})

test('without words it is the user’s shell, without an environment the path stays', () => {
  const {script} = workspaceScript({...placed, path: '/r', code: '/tmp', environment: null}, {}, [])
  expect(script).toBe('cd /tmp || exit 1\nexec "${SHELL:-/bin/sh}"\n')
})

test('libraries go before those that the environment names, and are alone where it names none', () => {
  const {script, env} = workspaceScript(
    {...placed, code: '/tmp', environment: null},
    {LD_LIBRARY_PATH: '/opt/lib'},
    ['true'],
    {libraries: "/r/it's"},
  )
  expect(script).toBe(
    `cd /tmp || exit 1\nLD_LIBRARY_PATH='/r/it'\\''s'"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; export LD_LIBRARY_PATH\nexec true\n`,
  )
  const said = (before: NodeJS.ProcessEnv): string =>
    execFileSync('sh', ['-c', script.replace('exec true', 'printf %s "$LD_LIBRARY_PATH"')], {
      env: before,
      encoding: 'utf8',
    })
  expect(said(env)).toBe("/r/it's:/opt/lib")
  expect(said({})).toBe("/r/it's")
})

test('a workspace without code, or whose environment has gone, is told with the command that repairs it', () => {
  expect(() => workspaceScript({...placed, syncedAt: null}, {}, [])).toThrow(
    expect.objectContaining({code: 'NOT_FOUND', hint: 'flexrack workspace up --on node-1'}),
  )
  const gone = {...placed, environment: {hash: 'aa', path: '/e', python: '3.11', ready: false}}
  expect(() => workspaceScript(gone, {}, [])).toThrow(
    expect.objectContaining({code: 'NOT_FOUND', hint: 'flexrack workspace up --on node-1'}),
  )
})
