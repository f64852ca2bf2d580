import {expect, it} from 'vitest'
import {confirm} from '../../../../src/cli/base/prompt.ts'
import {makeContext} from '../../../../src/lib/base/index.ts'

it('fails without a terminal, naming the flag that answers', async () => {
  await expect(confirm({message: 'Remove it?', flag: '--yes'}, makeContext())).rejects.toMatchObject({
    code: 'NEEDS_TERMINAL',
    exitCode: 2,
    message: '"Remove it?" must be answered, but there is no terminal to ask on',
    hint: '--yes',
  })
})
