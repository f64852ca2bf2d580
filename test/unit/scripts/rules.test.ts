import {describe, expect, it} from 'vitest'
import {checkFile} from '../../../scripts/rules/files.ts'
import {checkImports} from '../../../scripts/rules/imports.ts'
import {checkNative} from '../../../scripts/rules/native.ts'

const imports = (path: string, ...targets: string[]): string[] =>
  checkImports({path, text: targets.map((target) => `import {x} from '${target}'`).join('\n')}).map((line) =>
    line.slice(path.length + 2),
  )

describe('layers', () => {
  it('lets a feature use machinery, data, base and another feature by its index', () => {
    expect(
      imports(
        'src/lib/train/launch.ts',
        '../ssh/index.ts',
        '../rack/index.ts',
        '../base/index.ts',
        '../workspace/index.ts',
        './ranks.ts',
        'node:fs',
      ),
    ).toEqual([])
  })

  it('refuses the inside of another folder', () => {
    expect(imports('src/lib/train/launch.ts', '../workspace/sync.ts')).toEqual([
      'imports ../workspace/sync.ts: outside its folder only through src/lib/workspace/index.ts',
    ])
  })

  it('refuses an arrow upwards, also a dynamic one and one over several lines', () => {
    expect(imports('src/lib/ssh/open.ts', '../train/index.ts')).toEqual([
      'imports ../train/index.ts: ssh is below train',
    ])
    expect(checkImports({path: 'src/lib/base/x.ts', text: "const y = await import('../plan/index.ts')"})).toHaveLength(
      1,
    )
    expect(
      checkImports({path: 'src/lib/base/x.ts', text: "import {\n  a,\n  type B,\n} from '../plan/index.ts'"}),
    ).toHaveLength(1)
  })

  it('keeps lib away from cli, and the head service to itself', () => {
    expect(imports('src/lib/train/launch.ts', '../../cli/terminal/render.ts')).toEqual([
      'imports ../../cli/terminal/render.ts: lib imports neither cli nor commands',
    ])
    expect(imports('src/lib/head/start.ts', './service/server.ts')).toHaveLength(1)
    expect(imports('src/lib/head/service/server.ts', '../../ssh/index.ts')).toHaveLength(1)
  })

  it('lets a room of cli import rooms below it only', () => {
    expect(imports('src/cli/gpu/smi-text.ts', '../terminal/render.ts', './text.ts')).toEqual([])
    expect(imports('src/cli/main.ts', './errors/show.ts')).toEqual([])
    expect(imports('src/cli/terminal/render.ts', '../gpu/text.ts')).toEqual([
      'imports ../gpu/text.ts: cli/terminal is not above cli/gpu',
    ])
    expect(imports('src/cli/gpu/text.ts', '../runs/text.ts')).toEqual([
      'imports ../runs/text.ts: cli/gpu is not above cli/runs',
    ])
    expect(imports('src/cli/gpu/text.ts', '../main.ts')).toHaveLength(1)
    expect(imports('src/cli/gpu/text.ts', '../elsewhere/text.ts')).toHaveLength(1)
  })

  it('gives every package one owner', () => {
    expect(imports('src/lib/ssh/open.ts', 'ssh2')).toEqual([])
    expect(imports('src/lib/train/launch.ts', 'ssh2')).toEqual(['imports ssh2: only src/lib/ssh/, src/lib/local/ may'])
    expect(imports('src/lib/train/launch.ts', '@oclif/core')).toHaveLength(1)
    expect(imports('src/cli/terminal/render.ts', 'left-pad')).toEqual([
      'imports left-pad: no folder owns this package (scripts/rules/layers.ts)',
    ])
  })
})

describe('files', () => {
  it.each([
    'src/lib/train/utils.ts',
    'src/lib/run-helper.ts',
    'node/flexrack_node/common.py',
    'src/lib/manager/open.ts',
  ])('refuses the vague name %s', (path) => {
    expect(checkFile({path, text: ''}, [])).toHaveLength(1)
  })

  it.each(['src/lib/head/service/main.ts', 'src/lib/train/miscount.ts', 'docs/utils.md'])('accepts %s', (path) => {
    expect(checkFile({path, text: ''}, [])).toEqual([])
  })

  it('counts the functions that an index exports, not its types, classes and constants', () => {
    const index = (names: string): string[] =>
      checkFile({path: 'src/lib/train/index.ts', text: `export {${names}} from './x.ts'`}, [])
    expect(index('a, b, c, d, e, f, type G, H, I_J')).toEqual([])
    expect(index('a, b, c, d, e, f, g')).toHaveLength(1)
  })

  it('refuses a long Python file, and a folder of one machine', () => {
    expect(checkFile({path: 'node/flexrack_node/x.py', text: 'x\n'.repeat(301)}, [])).toEqual([
      'node/flexrack_node/x.py: 301 lines; 300 at most',
    ])
    expect(checkFile({path: 'test/node/test_x.py', text: 'x\n'.repeat(401)}, [])).toEqual([])
    expect(checkFile({path: 'README.md', text: 'cd /here/it/is'}, ['/here/'])).toHaveLength(1)
  })
})

describe('native files', () => {
  const includes = (path: string, ...targets: string[]): string[] =>
    checkNative({path, text: targets.map((target) => `#include "${target}"`).join('\n')})

  it('keeps client and server apart, and the wire below both', () => {
    expect(includes('native/client/opencl/queue.cpp', 'client/session.h', 'wire/link.h', 'gen/opencl/cl.h')).toEqual([])
    expect(includes('native/client/opencl/queue.cpp', 'backend/grant.h')).toHaveLength(1)
    expect(includes('native/server/worker_pool.cpp', 'client/session.h')).toHaveLength(1)
    expect(includes('native/wire/link.cpp', 'client/session.h')).toHaveLength(1)
  })

  it('refuses vendor headers in the product and lets tests use them', () => {
    expect(checkNative({path: 'native/client/opencl/queue.cpp', text: '#include <CL/cl.h>'})).toHaveLength(1)
    expect(checkNative({path: 'native/test/conformance/queue.cpp', text: '#include <CL/cl.h>'})).toEqual([])
    expect(checkNative({path: 'native/sim/driver/memory.cpp', text: '#include <cuda.h>'})).toHaveLength(1)
    expect(includes('native/backend/cuda/session.cpp', 'cuda/fatbin.h', 'gen/cuda/cuda.h')).toEqual([])
    expect(includes('native/sim/driver/memory.cpp', 'wire/link.h')).toHaveLength(1)
    expect(includes('native/cuda/fatbin.cpp', 'sim/ptx/program.h')).toHaveLength(1)
  })

  it('counts the lines of what is written by hand', () => {
    expect(checkNative({path: 'native/client/long.cpp', text: '\n'.repeat(501)})).toHaveLength(1)
    expect(checkNative({path: 'native/gen/opencl/messages.cpp', text: '\n'.repeat(501)})).toEqual([])
  })
})
