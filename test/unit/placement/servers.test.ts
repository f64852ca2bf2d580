import {describe, expect, it} from 'vitest'
import {placeServers, type Candidate, type ServersRequest} from '../../../src/lib/placement/index.ts'
import type {FreeShare} from '../../../src/lib/protocol/index.ts'
import {islands, nodeOf} from './racks.ts'

const GiB = 2 ** 30
/** A node whose daemon shares GPUs of 16 GiB, of which so much is free. */
const sharing = (node: string, free: number[], parts: Partial<Candidate> = {}): Candidate => {
  const shared = free.map((share, index): FreeShare => ({
    index,
    id: `${node}-${index}`,
    name: 'A GPU',
    api: 'cuda',
    memory: 16 * GiB,
    free: {memory: 16 * GiB * share, compute: share},
    whole: false,
  }))
  return nodeOf(node, [], {shared, ...parts})
}
const request = (parts: Partial<ServersRequest> = {}): ServersRequest => ({gpus: 1, wish: {remote: false}, ...parts})
const placed = (...given: Parameters<typeof placeServers>): string[] =>
  placeServers(...given).servers.map(({node, gpus}) => `${node}: ${gpus?.map((one) => one.id).join() ?? 'later'}`)

describe('servers', () => {
  it('are spread over nodes, and several share a GPU where there is room', () => {
    const wish = {memory: 6 * GiB, remote: false}
    const candidates = [sharing('a', [1]), sharing('b', [0.5])]
    expect(placed(request({wish}), candidates, 3)).toEqual(['a: a-0', 'b: b-0', 'a: a-0'])
    const {fit, reasons} = placeServers(request({wish}), candidates, 5)
    expect(fit).toBe(3)
    expect(reasons.map(({why}) => why)).toEqual([
      '2 servers: GPU0 of its own; 1 server more once there is room. GPU0: 16.0 GiB of 16.0 GiB and 100 % of the time free, 6.0 GiB for a server.',
      '1 server: GPU0 of its own; 1 server more once there is room. GPU0: 8.0 GiB of 16.0 GiB and 50 % of the time free, 6.0 GiB for a server.',
    ])
  })

  it('come to the GPU with the most memory left, and to whole ones only where nobody has any of it', () => {
    expect(placed(request({wish: {fraction: 0.25, remote: false}}), [sharing('a', [0.3, 0.9, 0.5])], 2)).toEqual([
      'a: a-1',
      'a: a-1',
    ])
    expect(placed(request(), [sharing('a', [0.9]), sharing('b', [1])], 2)).toEqual(['b: b-0', 'a: later'])
  })

  it('get several GPUs that are well linked, and the node where they are', () => {
    const links = islands(4, 2, {kind: 'nvlink'}, {kind: 'system'})
    const {topology} = nodeOf('b', links)
    const far = nodeOf('a', islands(2, 1, {kind: 'nvlink'}, {kind: 'system'})).topology
    const candidates = [sharing('a', [1, 1], {topology: far}), sharing('b', [0.5, 1, 1, 1], {topology})]
    expect(placed(request({gpus: 2}), candidates, 1)).toEqual(['b: b-2,b-3'])
    expect(placed(request({gpus: 2}), candidates, 3)).toEqual(['b: b-2,b-3', 'a: a-0,a-1', 'a: later'])
  })

  it('lease of other nodes only where they may, and what is reserved for a run is nobody else’s', () => {
    const candidates = [sharing('a', [0.1]), sharing('b', [1], {lendsOnly: true})]
    expect(placed(request({wish: {remote: false}}), candidates, 1)).toEqual(['a: later'])
    const far = placeServers(request({wish: {remote: true}}), candidates, 1)
    expect(far.servers).toMatchObject([{node: 'a', gpus: [{node: 'b', id: 'b-0'}]}])
    expect(far.reasons[0]?.why).toContain('GPU0 of b, over the network')
    const held = [{by: 'x', gpus: ['b-0'], exclusive: false, here: true}]
    expect(placed(request({wish: {remote: true}}), [candidates[0]!, sharing('b', [1], {held})], 1)).toEqual([
      'a: later',
    ])
  })

  it('need memory of the node, too; what is out of the question says why', () => {
    const candidates = [
      sharing('a', [1], {memory: 4 * GiB}),
      sharing('b', [1, 1], {memory: 12 * GiB}),
      sharing('c', [1], {problem: 'it does not answer'}),
    ]
    const {servers, fit, reasons} = placeServers(request({memory: 8 * GiB}), candidates, 2)
    expect([servers[0]?.node, fit]).toEqual(['b', 1])
    expect(reasons[0]?.why).toBe('8.0 GiB of memory are asked for a server, and it has 4.0 GiB.')
    expect(reasons[2]).toEqual({node: 'c', taken: false, why: 'It does not answer.'})
    const alone = placeServers({gpus: 0, wish: {remote: false}, memory: 8 * GiB}, candidates, 2)
    expect([alone.fit, alone.servers.map(({node}) => node)]).toEqual([1, ['b']])
  })
})
