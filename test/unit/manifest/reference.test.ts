import {expect, it} from 'vitest'
import {manifestReference} from '../../../src/lib/manifest/reference.ts'
import {rackReference} from '../../../src/lib/rack/reference.ts'

type Json = {
  description?: string
  properties?: Record<string, Json>
  additionalProperties?: boolean | Json
  items?: Json
}

function keysWithoutDescription(json: Json, path = ''): string[] {
  const own = Object.entries(json.properties ?? {}).flatMap(([key, value]) => [
    ...(value.description ? [] : [`${path}${key}`]),
    ...keysWithoutDescription(value, `${path}${key}.`),
  ])
  const inner = [json.items, json.additionalProperties].filter((one): one is Json => typeof one === 'object')
  return [...own, ...inner.flatMap((one) => keysWithoutDescription(one, `${path}*.`))]
}

it.each([
  ['manifest', manifestReference],
  ['rack file', rackReference],
])('describes every key of the %s, on the page and for editors', (_name, reference) => {
  const {markdown, jsonSchema} = reference()
  expect(keysWithoutDescription(jsonSchema as Json)).toEqual([])
  for (const key of Object.keys(jsonSchema.properties ?? {})) expect(markdown).toContain(`| \`${key}\` |`)
  expect(jsonSchema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
  })
  expect(JSON.stringify(jsonSchema)).not.toContain('as-is')
})

it('lets editors take numbers where flexrack takes them as written', () => {
  const {jsonSchema} = manifestReference()
  expect(jsonSchema.properties?.workspace?.properties?.env?.additionalProperties).toEqual({
    type: ['string', 'number', 'boolean'],
  })
  expect(jsonSchema.required).toEqual(['name'])
})
