import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
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
  execFileSync('python3', [resolve(import.meta.dirname, '../node/image_support.py'), join(project, 'layout'), `program=${occupy.path}`])
}, 600_000)

afterAll(async () => {
  await rack?.stop()
  await occupy?.remove()
  await rm(project, {recursive: true, force: true})
})

test('a program in an image uses GPUs of the rack by our drivers, over each transport', {timeout: 600_000}, async () => {
  await writeFile(join(project, 'code/flexrack.yaml'), `name: inside\nworkspace:\n  image: oci:../layout:base\n`)
  const at = ['--project', join(project, 'code')]
  const up = await rack.flexrack('workspace', 'up', ...at)
  expect(up, up.stderr).toMatchObject({status: 0})
  for (const transport of ['shm', 'tls']) {
    const done = await rack.flexrack('workspace', 'exec', ...at, '--gpus', '2', '--memory', '64MiB', '--transport', transport, '--', 'sh', '-c', `cat /etc/os-release; echo | ${occupy.path} 16`)
    expect(done, done.stderr).toMatchObject({status: 0, stdout: 'NAME="Test image"\nID=testimage\nready on 2\n0: 1\n1: 1\nbye\n'})
  }
  await rack.untilFree()
  const listed = JSON.parse((await rack.flexrack('image', 'list', '--json')).stdout) as {used_by: string[]}[]
  expect(listed.map((one) => one.used_by)).toEqual([['inside']])
})
