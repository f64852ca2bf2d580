import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {forNode, loadNative, nativePath, type NativeFile} from '../../../src/lib/gpu/native.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-native-'))))
afterEach(() => rm(folder, {recursive: true, force: true}))

const file = (name: string, machine: string | undefined): NativeFile => ({
  name,
  file: `/opt/${name}`,
  sha256: 'ab'.repeat(32),
  machine,
  executable: true,
})
const intel = {system: 'linux', machine: 'x86_64'}
const arm = {system: 'linux', machine: 'aarch64'}

it('a node gets what was built for its kind of machine, and scripts whatever it is', () => {
  const products = [[file('gpud-1', 'x86_64'), file('gpud-2', 'aarch64')], [file('script', undefined)]]
  expect(forNode(products, 'a', intel).map(({name}) => name)).toEqual(['gpud-1', 'script'])
  expect(forNode(products, 'b', arm).map(({name}) => name)).toEqual(['gpud-2', 'script'])
})

it('a machine that nothing was built for is told so, and another system too', () => {
  expect(() => forNode([[file('gpud-1', 'x86_64')]], 'b', arm)).toThrow(
    expect.objectContaining({
      message: 'the native layer here is built for x86_64, and b is aarch64',
      hint: 'npm run build:portable -- aarch64',
    }),
  )
  expect(() =>
    forNode([[file('gpud-1', 'x86_64'), file('gpud-2', 'aarch64')]], 'b', {system: 'linux', machine: 'riscv64'}),
  ).toThrow('built for x86_64 and aarch64, and b is riscv64')
  expect(() => forNode([[file('gpud-1', 'x86_64')]], 'c', {system: 'darwin', machine: 'x86_64'})).toThrow(
    'c runs darwin; the GPU daemon needs Linux',
  )
})

it('FLEXRACK_NATIVE names the only folder; a file says itself which machine it is for', async () => {
  const env = {FLEXRACK_NATIVE: folder}
  await expect(loadNative('flexrack-gpud', env)).rejects.toThrow(
    `flexrack-gpud is not built: it is not in FLEXRACK_NATIVE, ${folder}`,
  )
  const header = Buffer.alloc(20)
  header.writeUInt32BE(0x7f454c46)
  header.writeUInt16LE(183, 18)
  await writeFile(join(folder, 'flexrack-gpud'), header)
  expect(nativePath('flexrack-gpud', env)).toBe(join(folder, 'flexrack-gpud'))
  expect(await loadNative('flexrack-gpud', env)).toMatchObject([
    {machine: 'aarch64', executable: true, name: expect.stringMatching(/^flexrack-gpud-[0-9a-f]{16}$/)},
  ])
})
