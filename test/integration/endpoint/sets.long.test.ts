import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openEndpointSets, type Endpoints, type EndpointSets} from '../../../src/lib/endpoint/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {SCALED_SERVER} from '../../support/scaled-server.ts'

const MANIFEST = `
name: digits
endpoints:
  digits: {model: digits@production, command: "python3 serve.py {model} {host} {port} {model_file}"}
`

let folder: string
let racks: EndpointRack[]
let each: Endpoints[]
let sets: EndpointSets

// The whole way over two racks, each with a head, a registry and model servers of its own.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-sets-'))
  await writeFile(join(folder, 'serve.py'), SCALED_SERVER)
  await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
  const manifest = await loadManifest(folder)
  racks = [await startEndpointRack({nodes: 1}), await startEndpointRack({nodes: 1})]
  racks[1]!.rack.rack.name = 'edge'
  for (const {run, models} of racks) {
    await run('one', {'number.txt': Buffer.from('1')})
    const found = await models.findRegistration({name: 'digits', run: 'one', path: 'number.txt', alias: 'production'})
    await models.register(found)
  }
  each = await Promise.all(racks.map((one) => one.open({}, manifest)))
  const places = racks.map(({rack}) => ({rack: rack.rack, fleet: rack.fleet(), manifest}))
  sets = await openEndpointSets(places, racks[0]!.rack.context())
}, 600_000)
afterAll(async () => {
  await sets?.close()
  await Promise.all((racks ?? []).map((one) => one.stop()))
  await rm(folder, {recursive: true, force: true})
})

const SET = ['local', 'edge'].map((rack) => ({rack, name: 'digits'}))
const releases = (): Promise<unknown[]> => Promise.all(each.map(async (one) => (await one.show('digits')).release))

test('deployed, deployed anew and rolled back at both racks; the plan names the racks', async () => {
  const {steps} = await sets.planDeploy(SET)
  expect(steps.filter(({kind}) => kind === 'endpoint.switch').map(({id}) => id)).toEqual([
    'digits@local/switch',
    'digits@edge/switch',
  ])
  expect((await sets.deploy(SET)).map(({rack, changed}) => [rack, changed])).toEqual([
    ['local', true],
    ['edge', true],
  ])
  expect(await releases()).toEqual(['r1', 'r1'])
  await sets.deploy(SET.map((one) => ({...one, force: true})))
  expect(await releases()).toEqual(['r2', 'r2'])
  await sets.rollback(SET)
  expect(await releases()).toEqual(['r1', 'r1'])
})

test('a server that does not start at one rack keeps the other rack from it', async () => {
  const spoilt = SET.map((one, index) => ({...one, force: true, ...(index === 1 && {on: 'node-9'})}))
  await expect(sets.deploy(spoilt)).rejects.toMatchObject({message: expect.stringContaining('node-9')})
  expect(await releases()).toEqual(['r1', 'r1'])
  expect((await Promise.all(each.map((one) => one.show('digits')))).map(({state}) => state)).toEqual([
    'serving',
    'serving',
  ])
})
