import {readFileSync} from 'node:fs'
import {expect, it} from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

it('asks for the same Node in README, package.json and the guard of bin/run.js', () => {
  const {engines} = JSON.parse(read('package.json')) as {engines: {node: string}}
  const [major, minor] = /\^(\d+)\.(\d+)/.exec(engines.node)?.slice(1).map(Number) ?? []
  const floor = `${major}.${minor}`
  expect(read('README.md')).toMatch(new RegExp(`Node(\\.js)? ${floor.replace('.', '\\.')} or newer`))
  expect(read('bin/run.js')).toContain(`flexrack needs Node.js ${floor} or newer`)
  expect(read('bin/run.js')).toContain(`major > ${major} || (major === ${major} && minor >= ${minor})`)
})
