import {mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {ownMark, type CliError} from '../../../src/lib/base/index.ts'
import type {Problem} from '../../../src/lib/manifest/index.ts'
import {
  editRack,
  listRacks,
  loadRack,
  rackPath,
  saveRack,
  type Rack,
  type RackNode,
} from '../../../src/lib/rack/index.ts'

let home: string
let env: NodeJS.ProcessEnv

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-rack-'))
  env = {FLEXRACK_HOME: home, HOME: home}
})
afterEach(() => rm(home, {recursive: true, force: true}))

const node = (name: string, more: Partial<RackNode> = {}): RackNode => ({
  name,
  host: '127.0.0.1',
  root: '~/.flexrack',
  labels: {},
  ...more,
})
const rackOf = (name: string, nodes: RackNode[]): Rack => ({
  name,
  path: rackPath(name, env),
  nodes,
  head: {node: nodes[0]!.name, bind: '127.0.0.1'},
})

async function write(name: string, text: string): Promise<string> {
  const path = rackPath(name, env)
  await mkdir(dirname(path), {recursive: true})
  await writeFile(path, text)
  return path
}

describe('loading a rack', () => {
  it('fills in defaults: the first node is the head', async () => {
    const path = await write(
      'lab',
      'nodes:\n  - {name: a, host: 10.0.0.1}\n  - {name: 2, host: b, port: 22, labels: {gpus: 08}}\n',
    )
    expect(await loadRack('lab', env)).toEqual({
      name: 'lab',
      path,
      head: {node: 'a'},
      nodes: [node('a', {host: '10.0.0.1'}), node('2', {host: 'b', port: 22, labels: {gpus: '08'}})],
    })
  })

  it('means one rack: all, and names with commas, are for commands about several, and no rack is called all', async () => {
    await write('lab', 'nodes:\n  - {name: a, host: 10.0.0.1}\n')
    for (const several of ['all', 'lab,cloud'])
      await expect(loadRack(several, env)).rejects.toMatchObject({code: 'USAGE', hint: '--rack lab'})
    expect(() => rackPath('all', env)).toThrow('no rack can be called all')
  })

  it('takes the flag, then FLEXRACK_RACK, then what the manifest prefers, then the only one there is', async () => {
    for (const name of ['a', 'b', 'c']) await write(name, `nodes: [{name: ${name}, host: h}]\n`)
    expect((await loadRack('a', {...env, FLEXRACK_RACK: 'b'}, 'c')).name).toBe('a')
    expect((await loadRack(undefined, {...env, FLEXRACK_RACK: 'b'}, 'c')).name).toBe('b')
    expect((await loadRack(undefined, env, 'c')).name).toBe('c')
    await expect(loadRack(undefined, env)).rejects.toMatchObject({
      code: 'USAGE',
      message: 'which rack? There are a, b, c',
    })
    await rm(rackPath('a', env))
    await rm(rackPath('b', env))
    expect((await loadRack(undefined, env)).name).toBe('c')
    expect((await loadRack(rackPath('c', env), env)).name).toBe('c')
  })

  it('says what to do where there is none, and names the nearest', async () => {
    await expect(loadRack(undefined, env)).rejects.toMatchObject({code: 'NOT_FOUND', hint: 'flexrack local up'})
    await expect(loadRack('local', env)).rejects.toMatchObject({code: 'NOT_FOUND', hint: 'flexrack local up'})
    await write('office', 'nodes: [{name: a, host: h}]\n')
    await expect(loadRack('ofice', env)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'there is no rack "ofice"; did you mean "office"?',
    })
    await expect(loadRack('./no.yaml', env)).rejects.toMatchObject({code: 'NOT_FOUND'})
    await expect(loadRack('../etc', env)).rejects.toMatchObject({code: 'NOT_FOUND'})
    await expect(loadRack('-x', env)).rejects.toMatchObject({code: 'USAGE'})
  })

  it('tells every error with its place', async () => {
    await write(
      'bad',
      'head: {node: nod-1, bnd: x}\nnodes:\n  - {name: node-1, host: -oProxyCommand=x}\n  - {name: node-1, hots: b, labels: {a: "b,c"}}\n  - {name: n3, host: h, root: relative/path}\n',
    )
    const error = (await loadRack('bad', env).catch((caught: unknown) => caught)) as CliError
    expect(error).toMatchObject({code: 'RACK_INVALID', exitCode: 3, message: 'bad.yaml has 8 errors'})
    expect(
      (error.details.problems as Problem[]).map(({line, column, message}) => `${line}:${column} ${message}`),
    ).toEqual([
      '1:14 head.node names no node of this rack: "nod-1"; did you mean "node-1"?',
      '1:21 unknown key "bnd" in head; did you mean "bind"?',
      '3:26 nodes[0].host must be a host name, an address, or a Host of ~/.ssh/config',
      '4:5 the key "host" is missing in nodes[1]; expected text',
      '4:12 the node name "node-1" is given twice',
      '4:20 unknown key "hots" in nodes[1]; did you mean "host"?',
      '4:41 nodes[1].labels.a must be short text without blanks, commas and equal signs',
      '5:31 nodes[2].root must be an absolute path or begin with ~/',
    ])
  })

  it('knows how GPU daemons are to run, on all nodes and on one', async () => {
    await write(
      'lab',
      'gpu: {bind: [127.0.0.1, 10.0.0.1], transport: tls, env: {POCL_DEVICES: 1}}\nnodes:\n  - {name: a, host: b, gpu: {bind: 10.0.0.2, port: 7000, trusted_fabric: true}}\n',
    )
    expect(await loadRack('lab', env)).toMatchObject({
      gpu: {bind: ['127.0.0.1', '10.0.0.1'], transport: 'tls', env: {POCL_DEVICES: '1'}},
      nodes: [{gpu: {bind: ['10.0.0.2'], port: 7000, trustedFabric: true}}],
    })
  })

  it('lists racks by name, without locks and drafts', async () => {
    await write('b', '')
    await write('a', '')
    await writeFile(join(home, 'config', 'racks', '.a.yaml.lock'), '')
    await writeFile(join(home, 'config', 'racks', 'a.yaml.1.tmp'), '')
    expect((await listRacks(env)).map((rack) => rack.name)).toEqual(['a', 'b'])
  })
})

describe('writing a rack', () => {
  it('gives the same rack back, private to its owner', async () => {
    const rack: Rack = {
      ...rackOf('lab', [
        node('a', {
          port: 2201,
          user: 'me',
          identityFile: '/k',
          proxyJump: 'j',
          knownHosts: '/kh',
          address: '10.0.0.1',
          root: '/opt/f',
          environments: '/opt/e',
          labels: {gpu: 'a100', number: '08'},
        }),
        node('b', {host: '::1'}),
      ]),
      head: {node: 'b', bind: '0.0.0.0', port: 8000, url: 'http://x:8000', store: 'sqlite:///x', artifacts: '/a'},
    }
    await saveRack(rack)
    expect(await loadRack('lab', env)).toEqual(rack)
    expect((await stat(rack.path)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(rack.path))).mode & 0o777).toBe(0o700)
    expect(await readdir(dirname(rack.path))).toEqual(['lab.yaml'])
  })

  it('gives back what it says of GPU daemons', async () => {
    const rack: Rack = {
      ...rackOf('lab', [node('a', {gpu: {port: 7000, env: {A: '1'}}})]),
      gpu: {bind: ['10.0.0.1'], transport: 'tcp', trustedFabric: true, grace: 5, env: {}},
    }
    await saveRack(rack)
    expect(await loadRack('lab', env)).toEqual(rack)
    await editRack(rack.path, (one) => ({...one, gpu: {...one.gpu, bind: ['10.0.0.1', '10.0.0.2']}}))
    expect(await loadRack('lab', env)).toMatchObject({
      gpu: {bind: ['10.0.0.1', '10.0.0.2'], grace: 5},
      nodes: [{gpu: {port: 7000}}],
    })
  })

  it('gives back what it says of Slurm, and names a login node that is not there', async () => {
    const rack: Rack = {
      ...rackOf('lab', [node('a'), node('b')]),
      slurm: {login: 'b', partition: 'gpu', interface: 'ib0', bin: '/opt/slurm/bin', extra: ['--mail-type=FAIL']},
    }
    await saveRack(rack)
    expect(await loadRack('lab', env)).toEqual({...rack, nodes: [node('a'), {...node('b'), pooled: true}]})
    await editRack(rack.path, (one) => ({...one, nodes: [...one.nodes, node('c')]}))
    expect(await readFile(rack.path, 'utf8')).not.toContain('pooled')
    expect(await loadRack('lab', env)).toMatchObject({
      slurm: rack.slurm,
      nodes: [{name: 'a'}, {name: 'b'}, {name: 'c'}],
    })
    await write('other', 'nodes: [{name: login-1, host: h}]\nslurm: {login: login1}\n')
    await expect(loadRack('other', env)).rejects.toMatchObject({
      code: 'RACK_INVALID',
      message: expect.stringContaining('did you mean "login-1"?'),
    })
  })

  it('gives back how nodes get at package indexes: the rack says it for those that do not', async () => {
    const path = await write(
      'lab',
      'network: through-client # no internet\ndata_limit: 200GiB\nnetwork_hosts:\n  - files.example.org # ours\n  - 10.0.0.5:8080\nnodes:\n  - name: a\n    host: h\n  - name: b\n    host: h\n    network: direct\n',
    )
    const rack = await loadRack('lab', env)
    const networkHosts = ['files.example.org', '10.0.0.5:8080']
    expect(rack).toMatchObject({
      network: 'through-client',
      dataLimit: 200 * 2 ** 30,
      networkHosts,
      nodes: [
        {network: 'through-client', networkHosts},
        {network: 'direct', networkHosts},
      ],
    })
    const before = await readFile(path, 'utf8')
    await editRack(path, (one) => one)
    expect(await readFile(path, 'utf8')).toBe(before)
    await editRack(path, ({network: _, ...one}) => ({
      ...one,
      nodes: one.nodes.map((node) => ({...node, network: 'through-client' as const})),
    }))
    expect((await loadRack('lab', env)).nodes.map(({network}) => network)).toEqual(['through-client', 'through-client'])
    await write('other', 'network_hosts: ["https://files.example.org/"]\nnodes: [{name: a, host: h}]\n')
    await expect(loadRack('other', env)).rejects.toMatchObject({
      message: expect.stringContaining('must be HOST, *.HOST or HOST:PORT'),
    })
  })

  it('keeps the comments and the order of what a person wrote', async () => {
    const path = await write(
      'lab',
      '# My rack\nnodes:\n  # the fast one\n  - host: 10.0.0.1 # by the window\n    name: a\n    identity_file: ~/.ssh/key\n  - {name: b, host: h}\nhead:\n  bind: 127.0.0.1 # never open\n',
    )
    await editRack(path, (rack) => ({...rack, nodes: [{...rack.nodes[0]!, port: 2222}, node('c')]}))
    expect(await readFile(path, 'utf8')).toBe(
      '# My rack\nnodes:\n  # the fast one\n  - host: 10.0.0.1 # by the window\n    name: a\n    identity_file: ~/.ssh/key\n    port: 2222\n  - name: c\n    host: 127.0.0.1\nhead:\n  bind: 127.0.0.1 # never open\n',
    )
  })

  it('loses no edit of many at once', async () => {
    const path = rackPath('lab', env)
    await saveRack(rackOf('lab', [node('first')]))
    await Promise.all(
      Array.from({length: 20}, (_, index) =>
        editRack(path, (rack) => ({...rack, nodes: [...rack.nodes, node(`n${index}`)]})),
      ),
    )
    expect((await loadRack('lab', env)).nodes).toHaveLength(21)
    expect(await readdir(dirname(path))).toEqual(['lab.yaml'])
  })

  it('leaves the lock of another machine with the same home alone', async () => {
    const rack = rackOf('lab', [node('a')])
    await saveRack(rack)
    const lock = join(dirname(rack.path), '.lab.yaml.lock')
    await writeFile(lock, JSON.stringify({pid: 999_999_999, identity: 'another-boot 1', place: 'another-boot pid:[1]'}))
    let isDone = false
    const editing = editRack(rack.path, (one) => ({...one, nodes: [...one.nodes, node('b')]})).then(
      () => void (isDone = true),
    )
    // As long as the other one takes, here until the lock is gone.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect([isDone, await readFile(lock, 'utf8')]).toEqual([false, expect.stringContaining('another-boot')])
    await rm(lock)
    await editing
    expect(await loadRack('lab', env)).toMatchObject({nodes: [{name: 'a'}, {name: 'b'}]})
  })

  it('takes over the lock of a process that died', async () => {
    const rack = rackOf('lab', [node('a')])
    await mkdir(dirname(rack.path), {recursive: true})
    await writeFile(
      join(dirname(rack.path), '.lab.yaml.lock'),
      JSON.stringify({...(await ownMark()), pid: 999_999_999}),
    )
    await saveRack(rack)
    expect((await loadRack('lab', env)).nodes).toHaveLength(1)
  })

  it('refuses to write what could not be read, and leaves the file as it was', async () => {
    const rack = rackOf('lab', [node('a')])
    await saveRack(rack)
    await expect(saveRack({...rack, nodes: [node('a'), node('a')]})).rejects.toMatchObject({code: 'RACK_INVALID'})
    await expect(editRack(rack.path, () => ({...rack, nodes: [node('a', {host: '-x'})]}))).rejects.toMatchObject({
      code: 'RACK_INVALID',
    })
    await expect(saveRack(rackOf('new', [node('a b')]), {dryRun: true})).rejects.toMatchObject({code: 'RACK_INVALID'})
    expect(await loadRack('lab', env)).toEqual(rack)
    expect(await readdir(dirname(rack.path))).toEqual(['lab.yaml'])
  })

  it('writes nothing in a dry run', async () => {
    await saveRack(rackOf('lab', [node('a')]), {dryRun: true})
    expect(await readdir(home)).toEqual([])
  })
})
