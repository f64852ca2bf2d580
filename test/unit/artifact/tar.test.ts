import {mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile} from 'node:fs/promises'
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
    await symlink('./x/../y', join(from, 'inside'))
    const unpacked = await unpackFiles(await packFiles(from, ['absolute', 'up', 'inside']), to)
    expect(unpacked.refused).toEqual(['absolute', 'up'])
    expect(await readdir(to)).toEqual(['inside'])
  })
})

describe('the scripts', () => {
  it('check that the last file has come before anything is replaced', () => {
    const script = uploadScript('/a b/code/', 'last file')
    expect(script).toContain("t='/a b/code'\n")
    expect(script.indexOf("[ -e \"$d\"/'last file' ]")).toBeLessThan(script.indexOf('mv "$d" "$t"'))
  })

  it('name each path to fetch as a path, also one that looks like an option', () => {
    expect(fetchScript('/x', ['-rf', 'a b'])).toContain("tar -cf - -- ./-rf './a b'")
  })
})
