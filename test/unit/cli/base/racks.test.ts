import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {stripVTControlCharacters} from 'node:util'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {askRacks, racksText, severalRacks} from '../../../../src/cli/base/racks.ts'
import {CliError, silentReporter, type Context} from '../../../../src/lib/base/index.ts'

let home: string
let context: Context

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-racks-'))
  await mkdir(join(home, 'config', 'racks'), {recursive: true})
  const signal = new AbortController().signal
  context = {reporter: silentReporter, signal, kill: signal, env: {FLEXRACK_HOME: home, HOME: home}}
})
afterEach(async () => {
  process.exitCode = undefined
  await rm(home, {recursive: true, force: true})
})

const writeRack = (name: string, text = `nodes: [{name: ${name}-1, host: 127.0.0.1}]\n`): Promise<void> =>
  writeFile(join(home, 'config', 'racks', `${name}.yaml`), text)

test('all are the racks there are, and commas part several', async () => {
  await expect(severalRacks('all', context)).rejects.toMatchObject({code: 'NOT_FOUND'})
  await Promise.all([writeRack('lab'), writeRack('cloud')])
  expect(await severalRacks('all', context)).toEqual(['cloud', 'lab'])
  expect(await severalRacks('lab, ./x/other.yaml', context)).toEqual(['lab', './x/other.yaml'])
  await expect(severalRacks('lab,lab', context)).rejects.toMatchObject({
    code: 'USAGE',
    message: 'rack lab is named twice',
  })
  await expect(severalRacks('lab,', context)).rejects.toMatchObject({code: 'USAGE'})
})

test('a rack that cannot be read is part of the answer, with its reason, and the exit status is 8', async () => {
  await Promise.all([writeRack('lab'), writeRack('cloud', 'nodes: 7\nnode: 8\n')])
  const answers = await askRacks(['lab', 'cloud', 'gone'], {}, context, async ({rack}) => rack.nodes[0]?.name)
  expect(answers.map((one) => (one.ok ? one.answer : one.code))).toEqual(['lab-1', 'RACK_INVALID', 'NOT_FOUND'])
  expect(process.exitCode).toBe(8)
  const text = stripVTControlCharacters(racksText(answers, (name) => `first: ${name}`))
  expect(text).toMatch(
    /^rack lab\nfirst: lab-1\n\nrack cloud\ncloud.yaml has 2 errors; at 1:8: nodes .+\n\nrack gone\nthere is no rack "gone"/s,
  )
})

test('where none answers it is the error of the first, and a bug is no answer', async () => {
  await Promise.all([writeRack('lab'), writeRack('cloud')])
  const fail = async (error: Error) =>
    askRacks(['lab', 'cloud'], {}, context, async ({rack}) => {
      if (rack.name === 'lab' || error instanceof CliError) throw error
      return rack.name
    })
  await expect(fail(new CliError('NODE_UNREACHABLE', 'away'))).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
  await expect(fail(new TypeError('x is undefined'))).rejects.toThrow('x is undefined')
})
