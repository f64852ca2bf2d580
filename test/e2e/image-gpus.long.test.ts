import {execFileSync} from 'node:child_process'
import {copyFile, mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildOccupy, startGpuRack, type GpuRack} from '../support/gpu-rack.ts'
import {buildProgram} from '../support/program.ts'

let rack: GpuRack
let occupy: {path: string; remove(): Promise<void>}
let project: string

beforeAll(async () => {
  buildProgram()
  ;[rack, occupy] = await Promise.all([startGpuRack({nodes: 1, devices: 2}), buildOccupy()])
  project = await mkdtemp(join(tmpdir(), 'flexrack-image-gpus-'))
  await mkdir(join(project, 'code'))
  await copyFile(occupy.path, join(project, 'code/occupy'))
  execFileSync('python3', [
    resolve(import.meta.dirname, '../node/image_support.py'),
    join(project, 'layout'),
    'python',
    `program=${occupy.path}`,
  ])
}, 600_000)

afterAll(async () => {
  await rack?.stop()
  await occupy?.remove()
  await rm(project, {recursive: true, force: true})
})

const INSIDE = {
  'an image': 'image: oci:../layout:base',
  'a sandbox': 'isolate: {network: host}',
  'an image and a sandbox': 'image: oci:../layout:base\n  isolate: {network: host}',
  'an image and a sandbox without a network': 'image: oci:../layout:base\n  isolate: {network: none}',
}
/** What it uses, and what lies beside the daemon's socket, where its admin socket is, too. */
const SCRIPT = `echo | ./occupy 16; [ -z "$FLEXRACK_SANDBOX" ] || { IFS='"'; for one in $(cat "$FLEXRACK_LEASES"); do case $one in */client.sock) ls "\${one%/*}";; esac; done; }`

for (const [name, lines] of Object.entries(INSIDE)) {
  test(
    `a program in ${name} uses GPUs of the rack by our drivers, over each transport, and reaches no other socket of the daemon`,
    {timeout: 600_000},
    async () => {
      const transports = lines.includes('none') ? ['shm'] : ['shm', 'tls']
      await writeFile(join(project, 'code/flexrack.yaml'), `name: inside\nworkspace:\n  ${lines}\n`)
      const at = ['--project', join(project, 'code')]
      const up = await rack.flexrack('workspace', 'up', ...at)
      expect(up, up.stderr).toMatchObject({status: 0})
      for (const transport of transports) {
        const done = await rack.flexrack(
          'workspace',
          'exec',
          ...at,
          '--gpus',
          '2',
          '--memory',
          '64MiB',
          '--transport',
          transport,
          '--',
          'sh',
          '-c',
          SCRIPT,
        )
        expect(done, done.stderr).toMatchObject({
          status: 0,
          stdout: `ready on 2\n0: 1\n1: 1\nbye\n${lines.includes('isolate') ? 'client.sock\n' : ''}`,
        })
      }
      await rack.untilFree()
    },
  )
}

test('ranks in an image and a sandbox train on leased GPUs', {timeout: 600_000}, async () => {
  await writeFile(
    join(project, 'code/flexrack.yaml'),
    'name: inside\nworkspace:\n  image: oci:../layout:python\n  isolate: {network: host}\ntrain:\n  command: [train.py]\n  launcher: plain\n  nodes: 1\n  gpus: {count: 1, fraction: 0.5, remote: true}\n',
  )
  await writeFile(
    join(project, 'code/train.py'),
    'import subprocess\nprint(subprocess.run(["./occupy", "16"], input="\\n", text=True, capture_output=True).stdout, flush=True)\n',
  )
  const done = await rack.flexrack('train', '--project', join(project, 'code'), '--no-tracking', '--json')
  expect(done, `${done.stderr}\n${done.stdout}`).toMatchObject({status: 0})
  await rack.untilFree()
})
