import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import type {CheckResult} from '../../src/lib/project/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack} from '../support/program.ts'

let folder: string
let local: TestLocalRack

beforeAll(async () => {
  buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-check-e2e-'))
  local = await startLocalRack({nodes: 2})
  await writeFile(join(folder, 'train.py'), '')
})
afterAll(async () => {
  await local?.stop()
  await rm(folder, {recursive: true, force: true})
})

const check = async (manifest: string, ...args: string[]) => {
  await writeFile(join(folder, 'flexrack.yaml'), manifest)
  return flexrack(['check', ...args], {env: local.env, cwd: folder})
}

describe('a check', () => {
  it('shows every error of the manifest with its place, excerpt and nearest name, and ends with status 3', async () => {
    const {status, stdout, stderr} = await check(
      'nam: x\ntrain:\n  command: train.py\n  launcher: torchrn\n',
      '--offline',
    )
    expect(status).toBe(3)
    expect(stdout).toContain('error flexrack.yaml:1:1: the key "name" is missing; expected text')
    expect(stdout).toContain('error flexrack.yaml:1:1: unknown key "nam"; did you mean "name"?')
    expect(stdout).toContain(
      'error flexrack.yaml:4:13: train.launcher must be one of torchrun, accelerate, deepspeed, ray, mpi, plain, not the text "torchrn"; did you mean "torchrun"?\n  4 |   launcher: torchrn\n    |             ^^^^^^^\n',
    )
    expect(stderr).toBe('error: the check found 3 errors\n')
  })

  it('gives the same under --json', async () => {
    const {status, stdout, stderr} = await check('name: x\nworkspace:\n  image: no such\n', '--offline', '--json')
    expect({status, stderr}).toEqual({status: 3, stderr: ''})
    const {error} = JSON.parse(stdout) as {error: {code: string; details: CheckResult}}
    expect(error.code).toBe('CHECK_FAILED')
    expect(error.details.findings).toMatchObject([
      {
        severity: 'error',
        file: join(folder, 'flexrack.yaml'),
        line: 3,
        column: 10,
        message: 'workspace.image must be one word',
      },
    ])
  })

  it('goes on to the nodes and the head', async () => {
    const {status, stdout} = await check('name: x\ntrain: {command: train.py, launcher: plain, nodes: 2}\n')
    expect(status).toBe(3)
    expect(stdout).toContain('flexrack head start')
    expect(stdout).toMatch(/1 error.* \(looked at flexrack\.yaml, .*local\.yaml, 2 nodes\)/)
  })

  it('with --preflight shows who reaches whom and what old runs left, and --fix ends that', async () => {
    const root = join(local.home, 'state', 'local', 'nodes', 'node-2', 'home', '.flexrack')
    const env = {...process.env, FLEXRACK_TAG: 'old-1.0.1', FLEXRACK_OUTPUTS: join(root, 'runs', 'old-1', 'outputs')}
    const stray = spawn('sleep', ['600'], {env, stdio: 'ignore'})
    const ended = once(stray, 'exit')
    try {
      const found = await check(
        'name: x\ntrain: {command: train.py, launcher: plain, nodes: 2}\n',
        '--preflight',
        '--skip',
        'shm,disk',
      )
      expect(found.stdout).toMatch(/^node-1 +\. +ok\nnode-2 +ok +\.$/m)
      expect(found.stdout).toContain(
        `warning leftovers: node-2: process ${stray.pid} of run old-1, which is over: sleep 600\n  fix: flexrack check --fix --on node-2\n`,
      )
      expect(found.stdout).toContain('Left out: shm, disk.')
      const mended = await check('name: x\n', '--fix', '--yes', '--json')
      const {details} = (JSON.parse(mended.stdout) as {error: {details: Pick<CheckResult, 'mended' | 'preflight'>}})
        .error
      expect(details.mended).toEqual([
        {node: 'node-2', ok: true, value: [{kind: 'processes', name: 'old-1', bytes: 0}]},
      ])
      expect(details.preflight?.findings.filter((one) => one.check === 'leftovers')).toEqual([])
      expect(await ended).toEqual([null, 'SIGTERM'])
    } finally {
      stray.kill('SIGKILL')
    }
  })

  it('names the node that cannot be reached, and looks at the others', async () => {
    await mkdir(join(local.home, 'config', 'racks'), {recursive: true})
    const [first] = local.rack.nodes
    const rack = join(folder, 'rack.yaml')
    await writeFile(
      rack,
      JSON.stringify({
        nodes: [
          ...local.rack.nodes.map(({name, port}) => ({
            name,
            port,
            host: '127.0.0.1',
            user: first!.user,
            identity_file: first!.identityFile,
            known_hosts: first!.knownHosts,
          })),
          {name: 'gone', host: '127.0.0.1', port: 1},
        ],
      }),
    )
    const {status, stdout} = await check('name: x\n', '--rack', rack, '--json')
    expect(status).toBe(3)
    const {details} = (JSON.parse(stdout) as {error: {details: CheckResult}}).error
    expect(details.checked.nodes).toEqual(['node-1', 'node-2', 'gone'])
    expect(
      details.findings
        .filter((finding) => finding.about === 'node' && finding.severity === 'error')
        .map((finding) => finding.node),
    ).toEqual(['gone'])
  })
})

it('any command answers a wrong manifest before it touches a node', async () => {
  await writeFile(join(folder, 'flexrack.yaml'), 'name: x\nworkspace: {pyhton: a}\n')
  const {status, stdout, stderr} = await flexrack(['rack', 'probe'], {env: local.env, cwd: folder})
  expect({status, stdout}).toEqual({status: 3, stdout: ''})
  expect(stderr).toContain('flexrack.yaml:2:13: unknown key "pyhton" in workspace; did you mean "python"?')
})
