import {mkdtemp, mkdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import type {NodeReport, Probe} from '../../../src/lib/nodes/index.ts'
import {judgeNode, judgeTogether} from '../../../src/lib/project/check-nodes.ts'
import {checkProject} from '../../../src/lib/project/index.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-check-'))
  await mkdir(join(home, 'config', 'racks'), {recursive: true})
})
afterEach(() => rm(home, {recursive: true, force: true}))

const write = (path: string, text: string) => writeFile(join(home, path), text)
const check = () =>
  checkProject(
    {project: home, offline: true, openFleet: () => Promise.reject(new Error('offline'))},
    makeContext({env: {FLEXRACK_HOME: home}}),
  )

async function findings(): Promise<string[]> {
  const {findings: found} = await check()
  return found.map(({severity, line, column, message}) => `${severity} ${line ?? '-'}:${column ?? '-'} ${message}`)
}

describe('checking the files', () => {
  it('finds nothing in a good project', async () => {
    await write('config/racks/lab.yaml', 'nodes: [{name: a, host: h}, {name: b, host: h}]\n')
    await write(
      'requirements.txt',
      '# deep learning\ntorch==2.13.0\nnumpy >= 1.26, < 3 ; python_version >= "3.9"\nname[extra]~=1.0 \\\n  --hash=sha256:00\n./local\ngit+https://example.org/x\npkg @ https://example.org/x.whl\n-r more.txt\n',
    )
    await write('more.txt', '')
    await write('train.py', '')
    await write(
      'flexrack.yaml',
      'name: x\nworkspace: {python: requirements.txt}\ntrain: {command: train.py, nodes: 2}\n',
    )
    expect(await check()).toEqual({
      ok: true,
      findings: [],
      checked: {manifest: join(home, 'flexrack.yaml'), rack: join(home, 'config/racks/lab.yaml'), nodes: []},
    })
  })

  it('goes on to the rack file where the manifest is wrong, and tells all errors of both', async () => {
    await write('config/racks/lab.yaml', 'nodes: [{name: a, hots: h}]\n')
    await write('flexrack.yaml', 'nam: x\n')
    expect(await findings()).toEqual([
      'error 1:1 the key "name" is missing; expected text',
      'error 1:1 unknown key "nam"; did you mean "name"?',
      'error 1:9 the key "host" is missing in nodes[0]; expected text',
      'error 1:19 unknown key "hots" in nodes[0]; did you mean "host"?',
    ])
  })

  it('tells that there is neither manifest nor rack, each with the way out', async () => {
    const {ok, findings: found} = await check()
    expect(ok).toBe(false)
    expect(found.map(({about, fix}) => [about, fix])).toEqual([
      ['manifest', 'flexrack init'],
      ['rack', 'flexrack local up'],
    ])
  })

  it('finds a script that is not there, more nodes than the rack has, and a launcher without its package', async () => {
    await write('config/racks/lab.yaml', 'nodes: [{name: a, host: h}]\n')
    await write('train.py', '')
    await write('flexrack.yaml', 'name: x\ntrain:\n  command: trian.py --epochs 5\n  nodes: 2\n')
    const {findings: found} = await check()
    expect(found.map(({line, column, message, fix}) => [`${line}:${column} ${message}`, fix])).toEqual([
      [
        '3:12 train.command: there is no file trian.py in the project folder; did you mean "train.py"?',
        'command: train.py --epochs 5',
      ],
      ['4:10 train.nodes is 2, but the rack has 1 to run on', 'flexrack train --nodes 1'],
      [
        '2:1 the launcher torchrun needs PyTorch, but workspace.python names no requirements file',
        expect.stringContaining('launcher: plain'),
      ],
    ])
  })

  it('finds a command that begins with python', async () => {
    await write('config/racks/lab.yaml', 'nodes: [{name: a, host: h}]\n')
    await write('flexrack.yaml', 'name: x\ntrain: {command: python3 train.py -v, launcher: plain}\n')
    expect((await check()).findings).toMatchObject([
      {message: 'train.command begins with python3, but flexrack starts Python itself', fix: 'command: train.py -v'},
    ])
  })

  it('finds requirements that pip cannot read, in their own file', async () => {
    await write('config/racks/lab.yaml', 'nodes: [{name: a, host: h}]\n')
    await write('requirements.txt', 'numpy==2.4.6\n\n  torch=2.13.0  # typo\n-r missing.txt\nwhat is this\n')
    await write('flexrack.yaml', 'name: x\nworkspace: {python: requirements.txt}\n')
    const {findings: found} = await check()
    expect(found.map(({file, line, column, message, fix}) => [file, `${line}:${column} ${message}`, fix])).toEqual([
      [join(home, 'requirements.txt'), '3:3 pip cannot read the requirement "torch=2.13.0"', 'torch==2.13.0'],
      [join(home, 'requirements.txt'), '4:1 there is no file missing.txt', undefined],
      [join(home, 'requirements.txt'), '5:1 pip cannot read the requirement "what is this"', undefined],
    ])
  })
})

const GIB = 1024 ** 3
const probe = (more: Partial<Probe['facts']> = {}, ahead = 0): NodeReport<Probe> => ({
  node: 'a',
  ok: true,
  value: {
    facts: {
      python: {version: '3.11.2', path: '/usr/bin/python3', venv: true},
      cpu: {cores: 4, numa_nodes: 1, load: 0},
      memory: {total: 8 * GIB, available: 4 * GIB, shared: 4 * GIB},
      disk: {path: '/', total: 100 * GIB, free: 50 * GIB, free_files: 1_000_000, writable: true},
      missing: {},
      clock: 0,
      ...more,
    },
    clock: {ahead, within: 0.1},
    roundTrip: 100,
  },
})
const manifest = {train: {processesPerNode: 8, nodes: 2}} as Manifest

describe('judging what a node is', () => {
  const judge = (report: NodeReport<Probe>, given?: Manifest) =>
    judgeNode(report, given).map(({severity, message}) => `${severity}: ${message}`)

  it('finds nothing where all is well', () => {
    expect(judge(probe())).toEqual([])
  })

  it('passes on why it could not be reached', () => {
    expect(
      judgeNode({node: 'a', ok: false, code: 'NODE_UNREACHABLE', message: 'no', hint: 'ping a'}, undefined),
    ).toEqual([{severity: 'error', about: 'node', node: 'a', message: 'no', fix: 'ping a'}])
  })

  it('finds a missing venv, a full or closed disk, and too few files', () => {
    expect(judge(probe({python: {version: '3.11.2', path: '', venv: false}}))).toEqual([
      'warning: Python 3.11.2 there has no venv: only uv can make environments',
    ])
    expect(judge(probe({disk: {path: '/', total: GIB, free: GIB / 2, free_files: 5, writable: false}}))).toEqual([
      'error: / may not be written to',
      'error: only 0.5 GiB are free at /',
      'error: only 5 more files can be made at /',
    ])
    expect(judge(probe({disk: {path: '/', total: GIB, free: 3 * GIB, free_files: 0, writable: true}}))).toEqual([
      'warning: only 3.0 GiB are free at /',
    ])
  })

  it('finds a clock that is off, but not one that only may be', () => {
    expect(judge(probe({}, 5.05))).toEqual([])
    expect(judge(probe({}, -20))).toEqual(['warning: its clock is 20 s behind'])
    expect(judge(probe({}, 600))).toEqual(['error: its clock is 600 s ahead'])
  })

  it('finds a peer without a way, more processes than cores, and little shared memory', () => {
    expect(
      judge(
        probe({
          routes: {b: {error: 'b: Name or service not known'}},
          memory: {total: GIB, available: GIB, shared: 64 * 1024 ** 2},
        }),
        manifest,
      ),
    ).toEqual([
      'error: it has no way to b: b: Name or service not known',
      'warning: 8 processes will share 4 cores',
      'warning: /dev/shm has only 64 MiB',
    ])
  })

  it('finds a port of the head that is taken', () => {
    expect(judge(probe({taken_ports: [8000]}))).toEqual([
      'error: its port 8000 is taken, but the head is to listen there',
    ])
  })

  it('finds nodes whose Pythons differ', () => {
    const other = {...probe({python: {version: '3.9.1', path: '', venv: true}}), node: 'b'}
    expect(judgeTogether([probe(), other]).map((finding) => finding.message)).toEqual([
      'the nodes have different Pythons: 3.11 on a; 3.9 on b',
    ])
    expect(judgeTogether([probe(), probe({python: {version: '3.11.9', path: '', venv: true}})])).toEqual([])
  })
})
