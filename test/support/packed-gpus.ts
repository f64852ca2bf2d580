import {join, resolve} from 'node:path'
import {expect} from 'vitest'
import {shell, type Ended} from './program.ts'

const program = resolve(import.meta.dirname, '../fixtures/gpu/cuda_devices.py')

/**
 * A local rack with two GPUs in software, both lent to a program, by a `flexrack` that is called by this command;
 * nothing stays.
 */
export async function lendsGpus(command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const flexrack = (words: string): Promise<Ended> => shell(`cd / && ${command} ${words}`, {env})
  try {
    expect(await flexrack('local up --nodes 2 --gpu sim')).toMatchObject({status: 0})
    const done = await flexrack(`attach -n 2 --memory 256MiB -- python3 '${program}'`)
    expect(done).toMatchObject({status: 0})
    expect(
      done.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(Array(2).fill({name: 'Flexrack Simulated GPU', memory: 256 * 1024 ** 2, same: true}))
  } finally {
    await flexrack('local down --purge --yes --grace 1')
  }
}

/** The folder of binaries of the kind of machine that this is, in a package. */
export const ownBinaries = (root: string): string =>
  join(root, 'native/prebuilt', `linux-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`)
