import {expect, it} from 'vitest'
import {keepBackend} from '../../../../src/cli/local/gpus.ts'
import type {BackendWish, GpuNodeReport, Gpus} from '../../../../src/lib/gpu/index.ts'

function up(backends: (string | null)[], wish: BackendWish): Promise<void> {
  const nodes = backends.map(
    (backend, index) =>
      ({node: `node-${index + 1}`, state: backend === null ? 'absent' : 'running', backend}) as GpuNodeReport,
  )
  const gpus: Pick<Gpus, 'read'> = {read: async () => ({rack: 'local', nodes, devices: [], leases: []})}
  return keepBackend(gpus, [], wish)
}

it('refuses GPUs of another kind than a local rack that is up shares, with the way out', async () => {
  await expect(up(['opencl', 'opencl', null], {backend: 'sim'})).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'node-1, node-2 of the local rack share GPUs already, of the kind opencl and not sim',
    hint: expect.stringContaining('flexrack gpu serve --backend sim --rack local'),
  })
  await expect(up(['opencl'], {backend: 'cuda'})).rejects.toMatchObject({
    message: 'node-1 of the local rack shares GPUs already, of the kind opencl and not cuda',
  })
})

it('goes on with the same kind, with any kind, and where nothing is shared yet', async () => {
  await up(['sim', null], {backend: 'sim'})
  await up(['opencl'], {otherwise: 'sim'})
  await up([null], {backend: 'cuda'})
})
