import {execFileSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {attest, readAttested, statementPath} from '../../../src/lib/attest/index.ts'
import {World} from '../../support/lineage.ts'

const world = new World()
const run = world.run('digits-abcde')
const record = world.record(run)
const statement = {
  model: 'digits/1',
  path: 'model.onnx',
  files: new Map([['model.onnx', 'a'.repeat(64)]]),
  record: 'b'.repeat(64),
}
let folder: string
let signers: string
const key = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flexrack-attest-'))
  for (const name of ['ada', 'eve'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key(name)])
  signers = join(folder, 'allowed_signers')
  writeFileSync(signers, `ada@lab,ada@home ${readFileSync(key('ada.pub'), 'utf8')}`)
})
afterAll(() => rmSync(folder, {recursive: true, force: true}))

test('what an allowed signer has signed is read back, with who it was', async () => {
  const text = await attest(statement, record, key('ada'), undefined)
  const found = await readAttested(Buffer.from(text), signers)
  expect(found).toMatchObject({model: 'digits/1', record: statement.record, signer: 'ada@lab'})
  expect(found.files).toEqual(statement.files)
  const print = execFileSync('ssh-keygen', ['-l', '-f', key('ada.pub')], {encoding: 'utf8'})
  expect(print).toContain(found.keys[0])
  const {payload, payloadType} = JSON.parse(text) as {payload: string; payloadType: string}
  expect(payloadType).toBe('application/vnd.in-toto+json')
  expect(JSON.parse(Buffer.from(payload, 'base64').toString())).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{name: 'digits/1:model.onnx', digest: {sha256: 'a'.repeat(64)}}],
  })
})

test("an unknown signer, a changed byte, and a signature for something else are nobody's", async () => {
  const byEve = await attest(statement, record, key('eve'), undefined)
  expect(await readAttested(Buffer.from(byEve), signers)).toMatchObject({signer: null})
  const text = await attest(statement, record, key('ada'), undefined)
  const parsed = JSON.parse(text) as {payload: string; signatures: {sig: string}[]}
  const forged = Buffer.from(parsed.payload, 'base64').toString().replace('a'.repeat(64), 'c'.repeat(64))
  const changed = JSON.stringify({
    ...parsed,
    payload: Buffer.from(forged).toString('base64'),
    payloadType: 'application/vnd.in-toto+json',
  })
  const none = {code: 'CHECK_FAILED', message: expect.stringMatching(/no signature in it is of what it says/) as string}
  await expect(readAttested(Buffer.from(changed), signers)).rejects.toMatchObject(none)
  await expect(readAttested(Buffer.from(changed), undefined)).rejects.toMatchObject(none)
  const payload = Buffer.from(parsed.payload, 'base64')
  writeFileSync(join(folder, 'bytes'), `DSSEv1 28 application/vnd.in-toto+json ${payload.length} ${payload.toString()}`)
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'git', '-f', key('ada'), join(folder, 'bytes')])
  const elsewhere = readFileSync(join(folder, 'bytes.sig'), 'utf8').replace(/-----.*-----|\n/g, '')
  const other = JSON.stringify({...parsed, signatures: [{sig: elsewhere}]})
  await expect(readAttested(Buffer.from(other), signers)).rejects.toMatchObject(none)
  // Anybody can put a signature of hers beside his own: it is of other bytes.
  const {signatures} = JSON.parse(byEve) as typeof parsed
  const beside = Buffer.from(JSON.stringify({...parsed, signatures: [{sig: elsewhere}, ...signatures]}))
  expect(await readAttested(beside, undefined)).toMatchObject({
    keys: (await readAttested(Buffer.from(byEve), undefined)).keys,
  })
})

test('a second person signs the same statement; another statement begins anew', async () => {
  const byEve = await attest(statement, record, key('eve'), undefined)
  const both = await attest(statement, record, key('ada'), Buffer.from(byEve))
  expect((await readAttested(Buffer.from(both), signers)).keys).toHaveLength(2)
  expect((await readAttested(Buffer.from(both), signers)).signer).toBe('ada@lab')
  const other = await attest({...statement, record: 'd'.repeat(64)}, record, key('ada'), Buffer.from(both))
  expect((await readAttested(Buffer.from(other), signers)).keys).toHaveLength(1)
})

test.each([
  ['no JSON', 'x'],
  ['null', 'null'],
  ['no signature', JSON.stringify({payloadType: 'application/vnd.in-toto+json', payload: '', signatures: []})],
  [
    'a signature of no kind',
    JSON.stringify({payloadType: 'application/vnd.in-toto+json', payload: '', signatures: [{sig: 'AAAA'}]}),
  ],
  ['another type', JSON.stringify({payloadType: 'text/plain', payload: '', signatures: [{sig: 'AAAA'}]})],
])('%s is told', async (_what, text) => {
  await expect(readAttested(Buffer.from(text), signers)).rejects.toMatchObject({code: 'CHECK_FAILED'})
})

test('a key that is not there, and a file of signers that is not there, are told with what to do', async () => {
  await expect(attest(statement, record, key('none'), undefined)).rejects.toMatchObject({code: 'CHECK_FAILED'})
  const text = await attest(statement, record, key('ada'), undefined)
  await expect(readAttested(Buffer.from(text), join(folder, 'none'))).rejects.toMatchObject({code: 'NOT_FOUND'})
})

test('a name is one part of a path', () => {
  expect(statementPath('../../x y', '3')).toBe('lineage/signed/..%2F..%2Fx%20y-3.dsse.json')
})
