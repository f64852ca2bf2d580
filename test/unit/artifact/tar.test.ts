import {lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Readable} from 'node:stream'
import {buffer} from 'node:stream/consumers'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {packFiles, unpackFiles} from '../../../src/lib/artifact/index.ts'
import {fetchScript} from '../../../src/lib/artifact/fetch.ts'
import {uploadScript} from '../../../src/lib/artifact/upload.ts'

let from: string
let to: string
beforeEach(async () => {
  from = await mkdtemp(join(tmpdir(), 'flexrack-from-'))
  to = await mkdtemp(join(tmpdir(), 'flexrack-to-'))
})
afterEach(async () => {
  await rm(from, {recursive: true, force: true})
  await rm(to, {recursive: true, force: true})
})

describe('a tar stream', () => {
  it('holds the named files only, and comes out as it went in', async () => {
    await mkdir(join(from, 'd'))
    await writeFile(join(from, 'd', 'named'), 'yes')
    await writeFile(join(from, 'd', 'not named'), 'no')
    await symlink('d/named', join(from, 'link'))
    const unpacked = await unpackFiles(await packFiles(from, ['d', 'd/named', 'link']), to)
    expect(unpacked).toEqual({files: ['d/named', 'link'], bytes: 3, refused: []})
    expect(await readdir(join(to, 'd'))).toEqual(['named'])
    expect(await readFile(join(to, 'link'), 'utf8')).toBe('yes')
  })

  it('is the same for the same files, whoever packs them', async () => {
    await writeFile(join(from, 'a'), 'text')
    const [one, two] = await Promise.all([buffer(await packFiles(from, ['a'])), buffer(await packFiles(from, ['a']))])
    expect(one.equals(two)).toBe(true)
    expect(one.includes(Buffer.from(process.env.USER ?? 'root '))).toBe(false)
  })

  it('that breaks off, or is none, is an error', async () => {
    await writeFile(join(from, 'a'), Buffer.alloc(100_000, 'x'))
    const whole = await buffer(await packFiles(from, ['a']))
    await expect(unpackFiles(Readable.from([whole.subarray(0, 50_000)]), to)).rejects.toThrow()
    await expect(unpackFiles(Readable.from([Buffer.alloc(2048, 'no tar')]), join(to, 'x'))).rejects.toThrow()
  })

  it('leaves out links that point outside', async () => {
    await symlink('/etc/passwd', join(from, 'absolute'))
    await symlink('../../outside', join(from, 'up'))
    await symlink('.', join(from, 'here'))
    await symlink('here/../outside', join(from, 'late')) // inside by its text, outside by what `here` is
    await symlink('./x/y', join(from, 'inside'))
    const unpacked = await unpackFiles(await packFiles(from, ['absolute', 'up', 'here', 'late', 'inside']), to)
    expect(unpacked.refused).toEqual(['absolute', 'up', 'late'])
    expect((await readdir(to)).toSorted()).toEqual(['here', 'inside'])
  })

  it.each([
    ['a name that climbs', [entry('../evil')]],
    ['a name that climbs late', [entry('a/../../evil')]],
    ['an absolute name', [entry(join(tmpdir(), 'flexrack-evil'))]],
    ['a link and a file through it', [entry('l', '2', '..'), entry('l/evil')]],
    [
      'an inner link and a file through two of them',
      [entry('d/', '5'), entry('d/s', '2', '.'), entry('d/s/t', '2', '..'), entry('d/s/t/evil')],
    ],
    ['a hard link to a file outside', [entry('h', '1', '../outside/kept'), entry('h')]],
    ['a device and a pipe', [entry('null', '3'), entry('pipe', '6')]],
  ])('with %s writes nothing outside', async (_what, entries) => {
    const outside = join(from, 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'kept'), 'kept')
    const target = join(from, 'target')
    await unpackFiles(Readable.from([Buffer.concat([...entries, Buffer.alloc(1024)])]), target).catch(() => {})
    expect((await readdir(from)).toSorted()).toEqual(['outside', 'target'])
    expect(await readdir(outside)).toEqual(['kept'])
    expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('kept')
    expect(await readdir(tmpdir())).not.toContain('flexrack-evil')
    for (const name of await readdir(target)) expect((await lstat(join(target, name))).isFIFO()).toBe(false)
  })
})

/** One entry of a tar archive as POSIX.1 ustar has it; type 0 file, 1 hard link, 2 link, 3 device, 5 folder, 6 pipe. */
function entry(name: string, type = '0', link = ''): Buffer {
  const body = type === '0' ? 'evil' : ''
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write(
    '0000644\0' +
      '0000000\0'.repeat(2) +
      body.length.toString(8).padStart(11, '0') +
      '\0' +
      '00000000000\0' +
      ' '.repeat(8) +
      type,
    100,
  )
  header.write(link, 157)
  header.write('ustar\0' + '00', 257)
  header.write(
    header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0') + '\0 ',
    148,
  )
  return Buffer.concat([header, Buffer.from(body), Buffer.alloc((512 - body.length) % 512)])
}

describe('the scripts', () => {
  it('check that the last file has come before anything is replaced', () => {
    const script = uploadScript('/a b/code/', 'last file')
    expect(script).toContain("t='/a b/code'\n")
    expect(script.indexOf('[ -e "$d"/\'last file\' ]')).toBeLessThan(script.indexOf('mv "$d" "$t"'))
  })

  it('name each path to fetch as a path, also one that looks like an option', () => {
    expect(fetchScript('/x', ['-rf', 'a b'])).toContain("tar -cf - -- ./-rf './a b'")
  })
})
