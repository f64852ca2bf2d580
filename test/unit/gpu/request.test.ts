import {describe, expect, it} from 'vitest'
import {parseSize} from '../../../src/lib/base/index.ts'
import {gpuRequest} from '../../../src/lib/gpu/request.ts'

const GiB = 1024 ** 3

describe('a size of memory', () => {
  it.each([
    ['2GiB', 2 * GiB],
    ['1.5 GiB', 1.5 * GiB],
    ['512M', 512 * 1024 ** 2],
    ['2gb', 2e9],
    ['4096', 4096],
    ['1B', 1],
  ])('%s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })
  it.each(['', '0', '-1GiB', '2 gigs', 'GiB', '1e3', '9999999999999TiB', '1,5GiB'])('is not %j', (text) => {
    expect(parseSize(text)).toBeUndefined()
  })
})

describe('a request', () => {
  it('is one whole GPU where nothing says otherwise', () => {
    expect(gpuRequest({})).toEqual({count: 1, cap: false})
  })
  it('takes from the manifest what no flag says', () => {
    const manifest = {count: 2, memory: '8GiB', cap: true}
    expect(gpuRequest({}, manifest)).toEqual({count: 2, memory: 8 * GiB, cap: true})
    expect(gpuRequest({count: 1}, manifest)).toEqual({count: 1, memory: 8 * GiB, cap: true})
    expect(gpuRequest({fraction: '0.5'}, manifest)).toEqual({count: 2, fraction: 0.5, cap: false})
    expect(gpuRequest({whole: true}, manifest)).toEqual({count: 2, cap: false})
  })
  it('is of the API that a flag says, else of that of the manifest', () => {
    expect(gpuRequest({api: 'cuda'}, {api: 'opencl'})).toEqual({count: 1, api: 'cuda', cap: false})
    expect(gpuRequest({fraction: 0.5}, {api: 'opencl'})).toEqual({count: 1, api: 'opencl', fraction: 0.5, cap: false})
  })
  it('takes turns on one device, with a share that is said', () => {
    expect(gpuRequest({memory: '2GiB', oversubscribe: true})).toMatchObject({memory: 2 * GiB, oversubscribe: true})
    expect(gpuRequest({}, {memory: '2GiB', oversubscribe: true})).toMatchObject({oversubscribe: true})
    expect(gpuRequest({memory: '2GiB'}, {memory: '2GiB', oversubscribe: true})).not.toHaveProperty('oversubscribe')
  })
  it.each([
    [{oversubscribe: true}, '--oversubscribe is for a share: say how much memory'],
    [
      {oversubscribe: true, memory: '2GiB', count: 2},
      '--oversubscribe is for one GPU: programs on several would wait for each other',
    ],
    [{memory: 'much'}, '"much" is not a size of memory'],
    [{fraction: 'half'}, 'a fraction is a number from 0.001 to 1, not "half"'],
    [{fraction: '1.5'}, 'a fraction is a number from 0.001 to 1, not "1.5"'],
    [{cap: true}, '--cap limits a share, and this asks for whole devices'],
    [
      {memory: '1GiB', fraction: '0.5'},
      'a share is asked for by --memory, by --fraction, or all of it by --whole: one of them',
    ],
  ])('%j is refused', (flags, message) => {
    expect(() => gpuRequest(flags)).toThrow(message)
  })
})
