import {execFile} from 'node:child_process'
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {openHost} from '../../src/lib/host/index.ts'
import {loadManifest} from '../../src/lib/manifest/index.ts'
import {executePlan, throwIfFailed} from '../../src/lib/plan/index.ts'
import {PROJECT_LOCK} from '../../src/lib/workspace/index.ts'
import {startLocalRack} from '../support/local-rack.ts'
import {addModel} from '../support/onnx.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {buildProgram, flexrack} from '../support/program.ts'

const LONG = 3_600_000
/**
 * A lock file has the hashes of what the node's settings lead to; a folder of this machine's wheels has one kind of
 * each.
 */
const OWN_INDEX = {PIP_CONFIG_FILE: '/dev/null', PIP_FIND_LINKS: ''}
const MANIFEST = `name: digits
workspace: {python: requirements.txt}
train: {command: [train.py], launcher: plain, nodes: 2, outputs: [model.onnx]}
sweep: {metric: loss, goal: minimize, sampler: tpe, trials: 2, parameters: {x: [0, 1]}}
endpoints:
  digits: {model: digits@production, runtime: onnx}
`
const SCRIPT = `import argparse, os, shutil, numpy, mlflow
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float, default=3.0)
x = parser.parse_args().x
mlflow.log_metric("loss", float(numpy.square(x - 1)))
shutil.copy("add.onnx", "model.onnx")
print("trained with numpy", numpy.__version__, flush=True)
`

describe.skipIf(!mayMakeNetworks())('a laptop and two nodes in networks without any route', () => {
  let folder: string
  let project: string
  let net: TestNetRack

  beforeAll(async () => {
    buildProgram()
    folder = await mkdtemp(join(tmpdir(), 'flexrack-offline-'))
    project = join(folder, 'digits')
    await mkdir(project)
    await writeFile(join(project, 'flexrack.yaml'), MANIFEST)
    await writeFile(join(project, 'train.py'), SCRIPT)
    await writeFile(join(project, 'add.onnx'), addModel(2, 4))
    await writeFile(join(project, 'requirements.txt'), 'numpy\nmlflow-skinny\n')
    // Where there is internet: a lock file, then the bundle.
    const rack = await startLocalRack({nodes: 1, env: OWN_INDEX})
    try {
      const context = makeContext({env: {...process.env, ...OWN_INDEX, FLEXRACK_HOME: join(folder, 'online')}})
      const host = await openHost(rack.fleet(), rack.rack.nodes[0] as (typeof rack.rack.nodes)[0], context)
      throwIfFailed(
        await executePlan(
          await PROJECT_LOCK.plan([host], await loadManifest(project), context),
          PROJECT_LOCK.handlers,
          {host: () => host, context},
          context,
        ),
      )
    } finally {
      await rack.stop()
    }
    net = await startNetRack(3, undefined, () => ({PIP_CONFIG_FILE: '/dev/null', PIP_FIND_LINKS: ''}))
  }, LONG)
  afterAll(async () => {
    await net?.stop()
    await rm(folder, {recursive: true, force: true})
  })

  test(
    'install flexrack, build environments, start the head, train, sweep, serve, predict and take all away, from one file',
    async () => {
      const {stdout: version} = await promisify(execFile)('python3', [
        '-c',
        'import sys; print("%d.%d" % sys.version_info[:2])',
      ])
      const bundle = join(folder, 'lab.bundle')
      const parts = ['program', 'head', 'sweep', 'endpoints', 'project'].flatMap((part) => ['--for', part])
      const made = await flexrack(
        ['bundle', 'create', '--to', bundle, '--python', version.trim(), ...parts, '-C', project, '--json'],
        {env: {...OWN_INDEX, FLEXRACK_HOME: join(folder, 'online')}},
      )
      expect(made.status, made.stdout + made.stderr).toBe(0)

      // The third namespace is the laptop: nothing of it is outside.
      const home = join(folder, 'laptop')
      const laptop = join(home, 'own')
      await mkdir(home)
      const names = ['node-1', 'node-2', 'node-3']
      for (const name of names) countWhatLeaves(net, name)
      const before = new Map(names.map((name) => [name, packets(net, name)]))
      const space = net.inside('node-3', 'ip', 'netns', 'identify').trim()
      const there = async (words: string[], cwd = home): Promise<string> => {
        const env = {
          PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
          HOME: home,
          FLEXRACK_HOME: laptop,
          PIP_CONFIG_FILE: '/dev/null',
          NO_COLOR: '1',
          FLEXRACK_REBOOT: 'stay',
        }
        return (await promisify(execFile)('ip', ['netns', 'exec', space, ...words], {cwd, env, maxBuffer: 64 << 20}))
          .stdout
      }
      await expect(
        there(['python3', '-c', 'import socket; socket.create_connection(("203.0.113.1", 443), 5)']),
      ).rejects.toThrow('unreachable')
      await there(['tar', '-xf', bundle, '-C', home, '--wildcards', 'program/*'])
      const {version: own} = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
        version: string
      }
      await there([
        'npm',
        'install',
        '-g',
        '--offline',
        '--no-audit',
        '--no-fund',
        '--prefix',
        join(home, 'npm'),
        join(home, `program/flexrack-${own}.tgz`),
      ])
      const run = (...words: string[]): Promise<string> =>
        there([process.execPath, join(home, 'npm/lib/node_modules/flexrack/bin/run.js'), ...words], project)
      expect(JSON.parse(await run('bundle', 'apply', bundle, '--json'))).toMatchObject({
        there: 0,
        program: expect.stringMatching(/flexrack-.*\.tgz$/),
      })
      for (const name of ['node-1', 'node-2']) {
        const [address, server] = [net.addresses[name] as string, net.servers[name]]
        await run(
          'rack',
          'add',
          'lab',
          `${name}=${server?.user}@${address}:${server?.port}`,
          '--identity-file',
          server?.clientKey as string,
          '--address',
          address,
          '--root',
          `~/${name}`,
          '--network',
          'bundle',
          '--trust',
        )
      }
      await run('head', 'start', '--rack', 'lab')
      const logs = await run('train', '--rack', 'lab')
      expect(logs.match(/trained with numpy/g)).toHaveLength(2)
      expect(await run('runs', 'list', '--rack', 'lab', '--json')).toMatch(/"(finished|FINISHED)"/)
      await run('model', 'register', 'digits', '--alias', 'production', '--rack', 'lab')
      expect(JSON.parse(await run('sweep', '--rack', 'lab', '--json'))).toMatchObject({
        status: 'finished',
        trials: [{state: 'complete'}, {state: 'complete'}],
      })
      await run('endpoint', 'deploy', 'digits', '--rack', 'lab')
      const answer = JSON.parse(
        await run('endpoint', 'invoke', 'digits', '--data', '[[1, 2, 3, 4]]', '--json', '--rack', 'lab'),
      ) as unknown
      expect(JSON.stringify(answer)).toContain('[3,4,5,6]')
      await run('endpoint', 'remove', 'digits', '--yes', '--rack', 'lab')
      await run('head', 'stop', '--rack', 'lab')
      await run('rack', 'uninstall', '--yes', '--rack', 'lab')
      for (const name of names) {
        expect(net.inside(name, 'ip', 'route').trim().split('\n')).toEqual([
          expect.stringMatching(/^198\.18\.\d+\.0\/24 dev eth0 /),
        ])
        const sent = packets(net, name) - (before.get(name) as number)
        const outside = whatLeft(net, name)
        console.log(`${name}: ${sent} packets sent, ${outside} of them to outside of 198.18.0.0/15`)
        expect(outside).toBe(0)
      }
    },
    LONG,
  )
})

/** A rule without a target counts what passes it: packets to anybody but the other nodes and the node itself. */
function countWhatLeaves(net: TestNetRack, node: string): void {
  net.inside(node, 'iptables', '-I', 'OUTPUT', '1', '!', '-d', '198.18.0.0/15', '!', '-o', 'lo')
}

function whatLeft(net: TestNetRack, node: string): number {
  const rule = net
    .inside(node, 'iptables', '-nvxL', 'OUTPUT')
    .split('\n')
    .find((line) => line.includes('!198.18.0.0/15'))
  return Number(rule?.trim().split(/\s+/)[0])
}

/** IP packets that a namespace has sent. */
function packets(net: TestNetRack, node: string): number {
  const [names, values] = net
    .inside(node, 'cat', '/proc/net/snmp')
    .split('\n')
    .filter((line) => line.startsWith('Ip:'))
    .map((line) => line.split(' '))
  return Number(values?.[names?.indexOf('OutRequests') ?? 0])
}
