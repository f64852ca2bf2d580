import {expect, test} from 'vitest'
import {checkAlias, checkModelName, parseReference} from '../../../src/lib/model/reference.ts'

test('a model is named alone, by version or by alias', () => {
  expect(parseReference('digits')).toEqual({name: 'digits'})
  expect(parseReference('digits/3')).toEqual({name: 'digits', version: '3'})
  expect(parseReference('digits@production')).toEqual({name: 'digits', alias: 'production'})
})

test.each(['', 'digits/', 'digits/three', 'digits@', '/3', 'digits/3@production', 'a:b'])(
  '%j is no model name',
  (text) => {
    expect(() => parseReference(text)).toThrow(/is no model name/)
  },
)

test.each(['latest', 'Latest', 'v3', 'with space', ''])('%j cannot be an alias', (alias) => {
  expect(() => checkAlias(alias)).toThrow(/cannot be an alias/)
})

test.each(['production', 'v3-rc', '2026.11'])('%j can be an alias', (alias) => {
  expect(() => checkAlias(alias)).not.toThrow()
})

test.each(['a/b', 'a b', "it's", 'a@b', ''])('%j cannot be the name of a model', (name) => {
  expect(() => checkModelName(name)).toThrow(/cannot be the name/)
})
