import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, it} from 'vitest'
import {isCliError} from '../../../src/lib/base/index.ts'
import {loadManifest, type EndpointSpec} from '../../../src/lib/manifest/index.ts'

/** Of an endpoint with these lines what its servers need, or the codes and texts of what is wrong. */
async function needsOf(lines: string): Promise<Pick<EndpointSpec, 'gpus' | 'memory'> | string> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-manifest-'))
  try {
    await writeFile(join(folder, 'flexrack.yaml'), `name: x\nendpoints:\n  eyes: {model: eyes, ${lines}}\n`)
    const {gpus, memory} = (await loadManifest(folder)).endpoints.eyes as EndpointSpec
    return {...(gpus && {gpus}), ...(memory !== undefined && {memory})}
  } catch (error) {
    if (!isCliError(error, 'MANIFEST_INVALID')) throw error
    return `${error.message} ${JSON.stringify(error.details)}`
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

it('whole GPUs, shares, and those of other nodes are asked for as a training does it', async () => {
  expect(await needsOf('gpus: 2')).toEqual({gpus: {count: 2, cap: false, remote: false}})
  expect(await needsOf('gpus: {memory: 4GiB, cap: true}')).toEqual({
    gpus: {count: 1, memory: '4GiB', cap: true, remote: false},
  })
  expect(await needsOf('gpus: {fraction: 0.25, remote: true}, memory: 2GiB')).toEqual({
    gpus: {count: 1, fraction: 0.25, cap: false, remote: true},
    memory: 2 * 2 ** 30,
  })
  expect(await needsOf('replicas: 1')).toEqual({})
})

it('what goes not together is told', async () => {
  expect(await needsOf('gpus: {memory: 4GiB, fraction: 0.5}')).toContain('has both memory and fraction')
  expect(await needsOf('gpus: {cap: true}')).toContain('has cap for whole devices')
  for (const wrong of ['gpus: 0', 'gpus: {share: 25%}', 'memory: lots'])
    expect(await needsOf(wrong)).toBeTypeOf('string')
})
