import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {loadProgram, readProgram} from '../../../src/lib/host/program.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-program-'))
})
afterEach(() => rm(folder, {recursive: true, force: true}))

describe('the node program', () => {
  it('is every Python file, also in folders below, and nothing else', async () => {
    await mkdir(join(folder, 'sub', '__pycache__'), {recursive: true})
    await writeFile(join(folder, 'a.py'), 'a')
    await writeFile(join(folder, 'sub', 'b.py'), 'b')
    await writeFile(join(folder, 'sub', '__pycache__', 'b.cpython-311.pyc'), 'x')
    const first = await readProgram(folder)
    expect(first.files).toEqual({'a.py': 'a', 'sub/b.py': 'b'})
    expect(first.hash).toMatch(/^[0-9a-f]{16}$/)
    await writeFile(join(folder, 'a.py'), 'changed')
    expect((await readProgram(folder)).hash).not.toBe(first.hash)
  })

  it('goes without the schemas, which no module imports but for type checkers', async () => {
    const {files} = await loadProgram()
    expect(Object.keys(files).filter((name) => name.startsWith('schema/'))).toEqual([])
    const importing = Object.entries(files)
      .filter(([, text]) => /^(?:from|import) flexrack_node\.schema/m.test(text))
      .map(([name]) => name)
    expect(importing).toEqual([])
  })

  it('is found in this package, with what puts it on a node', async () => {
    expect(Object.keys((await loadProgram()).files)).toEqual(
      expect.arrayContaining(['__main__.py', 'installer.py', 'base/installed.py']),
    )
  })
})
