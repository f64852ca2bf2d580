import {describe, expect, it} from 'vitest'
import {apiOf, chooseBackend, simSettings} from '../../../src/lib/gpu/backend.ts'
import {device} from './devices.ts'

const GiB = 1024 ** 3
const cuda = {cuda: {found: true, why: 'libcuda.so.1 has 2 devices'}}
const opencl = {
  cuda: {found: false, why: 'there is no libcuda.so.1'},
  opencl: {found: true, why: 'OpenCL has 1 device'},
}
const nothing = {
  cuda: {found: false, why: 'there is no libcuda.so.1'},
  opencl: {found: false, why: 'there is no libOpenCL.so.1'},
}

describe('what a node serves', () => {
  it('is what is asked for, whatever it has', () => {
    expect(chooseBackend({backend: 'sim', sim: {devices: 4}}, 'a', {backend: 'cuda'}, cuda)).toEqual({
      backend: 'sim',
      sim: {devices: 4},
    })
    expect(chooseBackend({backend: 'opencl'}, 'a', {backend: 'sim', sim: {devices: 4}}, undefined)).toEqual({
      backend: 'opencl',
    })
  })
  it('stays as it was where nothing is asked for', () => {
    expect(chooseBackend({}, 'a', {backend: 'sim', sim: {devices: 4}}, cuda)).toEqual({
      backend: 'sim',
      sim: {devices: 4},
      why: 'as before',
    })
  })
  it('is CUDA where there is a driver with a device, else OpenCL, with the reason', () => {
    expect(chooseBackend({}, 'a', undefined, cuda)).toEqual({backend: 'cuda', why: 'libcuda.so.1 has 2 devices'})
    expect(chooseBackend({}, 'a', undefined, opencl)).toEqual({
      backend: 'opencl',
      why: 'no CUDA: there is no libcuda.so.1; OpenCL has 1 device',
    })
  })
  it('is CUDA or a GPU in software, and never OpenCL, where that is wanted', () => {
    expect(chooseBackend({otherwise: 'sim', sim: {devices: 2}}, 'a', undefined, cuda)).toEqual({
      backend: 'cuda',
      why: 'libcuda.so.1 has 2 devices',
    })
    expect(chooseBackend({otherwise: 'sim', sim: {devices: 2}}, 'a', undefined, opencl)).toEqual({
      backend: 'sim',
      sim: {devices: 2},
      why: 'no CUDA: there is no libcuda.so.1',
    })
  })
  it('is nothing where there is no driver, and that is said with a way out', () => {
    expect(() => chooseBackend({}, 'a', undefined, nothing)).toThrow(
      expect.objectContaining({
        code: 'GPU_FAILED',
        message:
          'a has no GPU that could be served. CUDA: there is no libcuda.so.1. OpenCL: there is no libOpenCL.so.1',
        hint: expect.stringContaining('--backend sim'),
      }),
    )
  })
})

describe('flags of a GPU in software', () => {
  it('are settings: sizes in bytes, the rest as it is written', () => {
    expect(simSettings({}, false, '')).toBeUndefined()
    expect(simSettings({devices: undefined, memory: undefined}, false, '')).toBeUndefined()
    expect(simSettings({devices: 4, memory: '8GiB', latency: '5'}, true, '')).toEqual({
      devices: 4,
      memory: 8 * GiB,
      latency: '5',
    })
    expect(
      simSettings({profile: 'blackwell', driver: '13.4', multiprocessors: 8, 'machine-code': 'accept'}, true, ''),
    ).toEqual({profile: 'blackwell', driver: '13.4', multiprocessors: 8, 'machine-code': 'accept'})
  })
  it('are a mistake for other devices', () => {
    expect(() => simSettings({memory: '8GiB'}, false, '--gpu sim')).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message: '--sim-memory says how a GPU in software is to be',
        hint: '--gpu sim',
      }),
    )
    expect(() => simSettings({memory: 'much'}, true, '')).toThrow('"much" is not a size of memory')
  })
})

it('a request that says no API gets CUDA where the nodes share such devices, free or not', () => {
  expect(apiOf([])).toBe('opencl')
  expect(apiOf([device('a', 0)])).toBe('opencl')
  expect(apiOf([device('a', 0), device('b', 0, {api: 'cuda', whole: true})])).toBe('cuda')
})
