import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, relative} from 'node:path'
import {expect, it} from 'vitest'
import {longestFirst} from '../../../scripts/testing/longest-first.ts'
import {root} from '../../../scripts/testing/run.ts'

it('starts what takes longest first, and takes the size for it where nobody has measured', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-longest-'))
  try {
    const [short, long, unknown] = ['short', 'long', 'unknown'].map((name) => ({
      moduleId: join(folder, `${name}.test.ts`),
    }))
    for (const one of [short, long, unknown]) await writeFile(one!.moduleId, 'x'.repeat(3000))
    const known = {[relative(root, short!.moduleId)]: 1, [relative(root, long!.moduleId)]: 100}
    expect(longestFirst([short!, unknown!, long!], known)).toEqual([long, unknown, short])
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
})
