import {describe, expect, it} from 'vitest'
import {quote} from '../../../src/lib/ssh/index.ts'

describe('quote', () => {
  it('leaves plain words as they are and joins with one space', () => {
    expect(quote(['python3', '-m', 'train.py', '--lr=0.1', 'a/b_c:d@e,f+g%h'])).toBe(
      "python3 -m train.py '--lr=0.1' a/b_c:d@e,f+g%h",
    )
  })

  it('makes one argument of anything', () => {
    expect(quote(['', 'a b', "it's", '$HOME', '`id`', '"x"', 'new\nline', '*', '~', '-rf'])).toBe(
      "'' 'a b' 'it'\\''s' '$HOME' '`id`' '\"x\"' 'new\nline' '*' '~' -rf",
    )
  })
})
