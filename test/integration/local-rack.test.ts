import {spawn} from 'node:child_process'
import {readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {localDown, localStatus, localUp, planLocalDown, planLocalUp} from '../../src/lib/local/index.ts'
import {loadRack} from '../../src/lib/rack/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

let local: TestLocalRack
beforeAll(async () => {
  local = await startLocalRack({nodes: 2})
})
afterAll(() => local.stop())

/** Runs a script on a node by way of a fleet that is opened for it. */
async function on(node: string, script: string): Promise<string> {
  const fleet = openFleet((await loadRack('local', local.env)).nodes, local.context())
  try {
    return (await (await fleet.shell(node)).run(script)).trim()
  } finally {
    await fleet.close()
  }
}

const ports = async (): Promise<number[]> => (await local.status()).nodes.map((node) => node.port)

test('each node has its own home and name, and the nodes share environments and packages', async () => {
  const script = 'echo $FLEXRACK_NODE $HOME $PWD; echo $PIP_CACHE_DIR'
  const [one, two] = await Promise.all([on('node-1', script), on('node-2', script)])
  const home = (name: string): string => join(local.home, 'state/local/nodes', name, 'home')
  expect(one.split('\n')[0]).toBe(`node-1 ${home('node-1')} ${home('node-1')}`)
  expect(two.split('\n')[0]).toBe(`node-2 ${home('node-2')} ${home('node-2')}`)
  expect(one.split('\n')[1]).toBe(two.split('\n')[1])
  expect(local.rack.nodes[0]?.environments).toBe(local.rack.nodes[1]?.environments)
})

test('nothing of the starter reaches the sessions but settings for packages', async () => {
  const other = await startLocalRack({
    nodes: 1,
    env: {
      MY_TOKEN: 'secret',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      PYTHONPATH: '/nowhere',
      LD_PRELOAD: '',
    },
  })
  try {
    const env = await (await other.shell('node-1')).run('env')
    expect(env).toContain('HTTPS_PROXY=http://127.0.0.1:9')
    expect(env).toContain('PIP_INDEX_URL=')
    expect(env).not.toMatch(/MY_TOKEN|PYTHONPATH|LD_PRELOAD|FLEXRACK_HOME/)
    const {pid} = await other.status()
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('MY_TOKEN')
  } finally {
    await other.stop()
  }
})

test('folders are 0700, and private keys, logs and state 0600', async () => {
  const folder = join(local.home, 'state/local')
  const seen: string[] = []
  for (const name of ['', 'nodes/node-1', 'nodes/node-1/home', 'environments', 'pipes'])
    seen.push(((await stat(join(folder, name))).mode & 0o777).toString(8))
  for (const name of ['identity', 'nodes/node-1/host_key', 'rack.json', 'daemon.log', 'control'])
    seen.push(((await stat(join(folder, name))).mode & 0o777).toString(8))
  expect(seen).toEqual([...Array(5).fill('700'), ...Array(5).fill('600')])
})

test('up again changes nothing', async () => {
  expect((await planLocalUp({nodes: 2}, local.context())).steps).toEqual([])
  const before = await local.status()
  const after = await localUp({nodes: 2}, local.context())
  expect(after).toEqual(before)
})

test('a plan changes nothing', async () => {
  const before = await local.status()
  expect((await planLocalUp({nodes: 4}, local.context())).steps.map((step) => step.kind)).toEqual([
    'local.nodes',
    'local.rack-file',
  ])
  expect((await planLocalDown({purge: true, grace: 1}, local.context())).steps.map((step) => step.kind)).toEqual([
    'local.stop',
    'local.end',
    'local.forget',
    'local.purge',
  ])
  expect(await local.status()).toEqual(before)
})

test('two commands at once do one after the other', async () => {
  const [three, two] = await Promise.all([localUp({nodes: 3}, local.context()), localUp({nodes: 2}, local.context())])
  expect(three.pid).toBe(two.pid)
  const rack = await loadRack('local', local.env)
  expect(rack.nodes.map((node) => node.port)).toEqual(await ports())
})

test('another number adds nodes and takes nodes down with what runs there; the others notice nothing', async () => {
  await localUp({nodes: 2}, local.context())
  const [kept] = await ports()
  const shell = await local.shell('node-1')
  await localUp({nodes: 4}, local.context())
  expect(await on('node-4', 'sleep 1004170 >/dev/null 2>&1 & echo $FLEXRACK_NODE; touch kept')).toBe('node-4')
  expect((await local.status()).nodes[3]?.processes).toBe(1)
  const less = await localUp({nodes: 2}, local.context())
  expect(less.nodes.map((node) => node.name)).toEqual(['node-1', 'node-2'])
  expect((await ports())[0]).toBe(kept)
  expect(await shell.run('echo same connection')).toBe('same connection\n')
  await localUp({nodes: 4}, local.context())
  expect(await on('node-4', 'ls; ps ax | grep -c "[s]leep 1000" || true')).toBe('kept\n0')
})

test('a number of nodes that makes no sense is refused', async () => {
  await expect(planLocalUp({nodes: 0}, local.context())).rejects.toMatchObject({code: 'USAGE'})
  await expect(localUp({nodes: 1000}, local.context())).rejects.toMatchObject({code: 'USAGE'})
})

describe('down', () => {
  test('ends everything that was started on the nodes, however well it has hidden', async () => {
    const hidden = [
      'sleep 1004171',
      'nohup setsid sleep 1004172',
      `trap "" TERM HUP; sleep 1004173; sleep 1004173`,
      // Without its environment, and given to init: found as a child or a member of the session.
      'env -i sh -c "sleep 1004174; true"',
    ]
    for (const script of hidden) await on('node-1', `sh -c '${script}' </dev/null >/dev/null 2>&1 & echo`)
    await on(
      'node-2',
      'python3 -c "import os,time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  time.sleep(1004175)" </dev/null >/dev/null 2>&1',
    )
    const counts = (await local.status()).nodes.map((node) => node.processes)
    expect(counts[0]).toBeGreaterThanOrEqual(4)
    expect(counts[1]).toBeGreaterThanOrEqual(1)
    const result = await localDown({purge: false, grace: 1}, local.context())
    expect(result.ended).toBeGreaterThanOrEqual(5)
    expect(await local.status()).toMatchObject({state: 'stopped', pid: null})
    expect(await sleepers()).toEqual([])
  })

  test('again is fine, keeps the homes, and leaves no rack file', async () => {
    expect(await localDown({purge: false, grace: 1}, local.context())).toEqual({ended: 0, purged: false})
    expect(await readdir(join(local.home, 'config/racks'))).toEqual([])
    expect(await readdir(join(local.home, 'state/local/nodes'))).toEqual(['node-1', 'node-2', 'node-3', 'node-4'])
  })

  test('and up again brings back ports, keys and homes', async () => {
    const before = await ports()
    await localUp({nodes: 4}, local.context())
    expect(await ports()).toEqual(before)
    expect(await on('node-4', 'ls')).toBe('kept')
  })
})

test('a rack file named local that somebody wrote is not replaced', async () => {
  await localDown({purge: false, grace: 1}, local.context())
  const file = join(local.home, 'config/racks/local.yaml')
  await writeFile(file, 'nodes:\n  - {name: mine, host: 10.0.0.1}\n')
  await expect(localUp({nodes: 2}, local.context())).rejects.toMatchObject({code: 'CONFLICT'})
  expect(await readFile(file, 'utf8')).toContain('mine')
  await rm(file)
  await localUp({nodes: 2}, local.context())
})

test('a killed background process is told, and up repairs it on the same ports', async () => {
  const before = await local.status()
  await on('node-1', 'nohup sleep 1004176 >/dev/null 2>&1 & echo')
  process.kill(before.pid as number, 'SIGKILL')
  await expect.poll(async () => (await local.status()).state).toBe('crashed')
  expect((await local.status()).nodes[0]?.processes).toBe(1)
  const after = await localUp({nodes: 2}, local.context())
  expect(after.state).toBe('running')
  expect(after.pid).not.toBe(before.pid)
  expect(after.nodes.map((node) => node.port)).toEqual(before.nodes.map((node) => node.port))
  expect(after.nodes[0]?.processes).toBe(1)
  process.kill(after.pid as number, 'SIGKILL')
  await expect.poll(async () => (await local.status()).state).toBe('crashed')
  expect(await localDown({purge: false, grace: 1}, local.context())).toMatchObject({ended: 1})
  expect(await sleepers()).toEqual([])
  await localUp({nodes: 2}, local.context())
})

test('the rack outlives the command that started it', async () => {
  const script = `import {localUp} from ${JSON.stringify(new URL('../../src/lib/local/index.ts', import.meta.url).href)}
import {makeContext} from ${JSON.stringify(new URL('../../src/lib/base/index.ts', import.meta.url).href)}
await localUp({nodes: 3}, makeContext())`
  const other = await startLocalRack({nodes: 1})
  try {
    await localDown({purge: false, grace: 1}, other.context())
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: other.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // Its output ends when it ends: the background process does not hold it open.
    await new Promise((resolve) => child.once('close', resolve))
    expect(await localStatus(other.context())).toMatchObject({state: 'running'})
    expect((await other.status()).nodes).toHaveLength(3)
  } finally {
    await other.stop()
  }
})

test('a rack with an owner ends with it, and with what runs on its nodes', async () => {
  const other = await startLocalRack({nodes: 1})
  await localDown({purge: false, grace: 1}, other.context())
  const owner = spawn('sleep', ['1000'])
  const {pid} = await localUp({nodes: 1, owner: owner.pid as number}, other.context())
  await (
    await openFleet((await loadRack('local', other.env)).nodes, other.context()).shell('node-1')
  ).run('nohup sleep 1004177 >/dev/null 2>&1 &')
  owner.kill('SIGKILL')
  await expect.poll(async () => (await other.status()).state).toBe('crashed')
  expect(pid).toBeGreaterThan(1)
  expect(await sleepers()).toEqual([])
  await other.stop()
})

test('purge leaves nothing', async () => {
  const other = await startLocalRack({nodes: 2})
  await localDown({purge: true, grace: 1}, other.context())
  expect(await readdir(join(other.home, 'state'))).toEqual([])
  expect(await other.status()).toMatchObject({state: 'absent', nodes: []})
  await other.stop()
})

/** Commands of `sleep 100417x` that run on this machine, whoever started them. */
async function sleepers(): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
    if (/^sleep 100417\d |sleep\(1004175\)/.test(command)) found.push(command)
  }
  return found
}
