import {describe, expect, test} from 'vitest'
import {needsOwnNode} from '../../../src/lib/head/node-choice.ts'
import {reachWarning} from '../../../src/lib/head/address.ts'
import {pinsOf} from '../../../src/lib/base/index.ts'
import {headRequirements} from '../../../src/lib/head/requirements.ts'
import type {HeadNode} from '../../../src/lib/protocol/index.ts'
import type {Rack, RackNode} from '../../../src/lib/rack/index.ts'
import {mlflowCommand, publicStore} from '../../../src/lib/head/service/tracking/mlflow-command.ts'

const there: HeadNode = {
  folder: '/h',
  system: 'linux',
  machine: 'x86_64',
  libc: 'glibc',
  node: null,
  placed: [],
  memory_free: null,
  comes_back: {by: 'off', why: null},
}
const here = {platform: 'linux', arch: 'x64', isGlibc: true}

describe('the Node that runs the head', () => {
  test("is the node's own where it is new enough", () => {
    expect(
      needsOwnNode('n', {...there, node: {path: '/usr/bin/node', version: '24.0.0'}}, {...here, platform: 'darwin'}),
    ).toBe(false)
  })
  test("is a copy of this machine's where that runs there", () => {
    expect(needsOwnNode('n', there, here)).toBe(true)
    expect(needsOwnNode('n', {...there, machine: 'aarch64'}, {...here, arch: 'arm64'})).toBe(true)
  })
  test.each([[{machine: 'aarch64'}], [{system: 'darwin'}], [{libc: 'other'}]])(
    'is missing where neither will do: %j',
    (difference) => {
      expect(() => needsOwnNode('n', {...there, ...difference}, here)).toThrow(
        expect.objectContaining({code: 'NODE_UNFIT'}),
      )
    },
  )
})

test('the environment has the driver that the store needs', () => {
  const drivers = ['mlflow', 'psycopg2-binary', 'boto3', 'pymysql']
  expect(pinsOf(headRequirements({}), drivers)).toEqual([expect.stringMatching(/^mlflow==3\.\d+\.\d+$/)])
  expect(
    pinsOf(headRequirements({store: 'postgresql://u:p@h/db', artifacts: 's3://bucket'}), drivers).map(
      (pin) => pin.split('=')[0],
    ),
  ).toEqual(['mlflow', 'psycopg2-binary', 'boto3'])
})

describe('MLflow', () => {
  const config = {folder: '/root of it/head', version: '1', bind: '127.0.0.1', port: 0, python: '/env/bin/python'}
  test('listens on its socket only, and its store is not on its command line', () => {
    const command = mlflowCommand({...config, store: 'postgresql://u:secret@h/db'}, "/a 'b'/mlflow.sock")
    expect(command.args.join(' ')).not.toContain('secret')
    expect(command.env.MLFLOW_BACKEND_STORE_URI).toBe('postgresql://u:secret@h/db')
    expect(command.args.at(-1)).toMatch(/^--uds '\/a '"'"'b'"'"'\/mlflow\.sock' /)
  })
  test('keeps SQLite and artifacts in its folder by default', () => {
    expect(mlflowCommand(config, '/s').env).toMatchObject({
      MLFLOW_BACKEND_STORE_URI: 'sqlite:////root of it/head/mlflow.db',
      MLFLOW_ARTIFACTS_DESTINATION: '/root of it/head/artifacts',
    })
  })
})

describe('the address for nodes', () => {
  const node = (name: string, host: string, address?: string): RackNode => ({
    name,
    host,
    root: '~/.flexrack',
    labels: {},
    ...(address && {address}),
  })
  const rack = (bind: string, nodes: RackNode[], url?: string): Rack => ({
    name: 'lab',
    path: '/lab.yaml',
    nodes,
    head: {node: 'a', bind, ...(url && {url})},
  })

  test('on loopback is warned of where other machines are in the rack', () => {
    expect(reachWarning(rack('127.0.0.1', [node('a', 'h'), node('b', 'other')]), node('a', 'h'), '127.0.0.1')).toMatch(
      /so b cannot reach it: take head.bind out/,
    )
    expect(
      reachWarning(rack('127.0.0.1', [node('a', 'h'), node('b', 'h')]), node('a', 'h'), '127.0.0.1'),
    ).toBeUndefined()
    expect(
      reachWarning(rack('10.0.0.1', [node('a', 'h'), node('b', 'other')]), node('a', 'h'), '10.0.0.1'),
    ).toBeUndefined()
    expect(
      reachWarning(rack('127.0.0.1', [node('a', 'h'), node('b', 'other')], 'http://x'), node('a', 'h'), '127.0.0.1'),
    ).toBeUndefined()
  })
})

test('a password in a store is not shown', () => {
  expect(publicStore('postgresql://u:secret@h/db')).toBe('postgresql://u:***@h/db')
  expect(publicStore('sqlite:////x/y')).toBe('sqlite:////x/y')
})
