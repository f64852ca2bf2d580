import {describe, expect, it} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import {requireMpi} from '../../../src/lib/train/mpi.ts'

/** Nodes as their mpi.inspect answers. */
const hosts = (versions: Record<string, string | null>): Host[] =>
  Object.entries(versions).map(
    ([node, version]) =>
      ({node, call: async () => ({version, series: version?.slice(0, 3) ?? null})}) as unknown as Host,
  )
const context = makeContext({env: {}})

describe('before a run with Open MPI is planned', () => {
  it('every node that has none is named, with the command that installs it', async () => {
    await expect(requireMpi(hosts({a: '4.1.4', b: null, c: null}), context)).rejects.toMatchObject({
      code: 'NODE_UNFIT',
      message: 'train.launcher is mpi, and b, c have no Open MPI (mpirun)',
      hint: 'sudo apt-get install openmpi-bin   (on b, c)',
    })
  })

  it("a version whose parameters have other names is refused; releases of one series are the preflight's business", async () => {
    await expect(requireMpi(hosts({a: '4.1.4', b: '5.0.6'}), context)).rejects.toMatchObject({
      code: 'NODE_UNFIT',
      message: 'b has Open MPI 5.0.6, and the launcher mpi knows version 4 only',
    })
    await expect(requireMpi(hosts({a: '4.1.4', b: '4.1.6'}), context)).resolves.toBeUndefined()
  })
})
