import {expect, it} from 'vitest'
import {checkText} from '../../../src/cli/check/text.ts'

it('says which Python the environments of a project will have', () => {
  const text = checkText({
    ok: true,
    findings: [],
    checked: {
      nodes: ['a', 'b', 'c'],
      pythons: [
        {node: 'a', version: '3.12.4', by: 'node'},
        {node: 'b', version: '3.12', by: 'uv'},
        {node: 'c', version: '3.12.4', by: 'node'},
      ],
    },
  })
  expect(text).toContain(
    'Environments of this project will have Python 3.12.4 on a, c; Python 3.12, which uv will install, on b.',
  )
})
