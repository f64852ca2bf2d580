import {randomBytes} from 'node:crypto'
import {chmod, mkdir, mkdtemp, readFile, readdir, readlink, rm, stat, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {fetchPaths, uploadFolder} from '../../src/lib/artifact/index.ts'
import {makeContext} from '../../src/lib/base/index.ts'
import {openFleet, type Fleet, type NodeShell} from '../../src/lib/ssh/index.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'
import {startTcpRelay} from '../support/tcp-relay.ts'

let sshd: TestSshd
let fleet: Fleet
let shell: NodeShell
let here: string
let there: string

beforeAll(async () => {
  sshd = await startSshd({homeFiles: {'.bashrc': 'echo hello from .bashrc\n'}})
  fleet = openFleet([sshd.target('node-1')], makeContext())
  shell = await fleet.shell('node-1')
})
afterAll(async () => {
  await fleet?.close()
  await sshd?.stop()
})
beforeEach(async () => {
  here = await mkdtemp(join(tmpdir(), 'flexrack-here-'))
  there = await mkdtemp(join(tmpdir(), 'flexrack-there-'))
})
afterEach(async () => {
  await rm(here, {recursive: true, force: true})
  await rm(there, {recursive: true, force: true})
})

describe('uploadFolder', () => {
  it('puts exactly the named files there, with odd names, modes and links, and replaces what was there', async () => {
    await mkdir(join(here, 'a folder'))
    await writeFile(join(here, 'a folder', "it's – ü.txt"), 'text')
    await writeFile(join(here, '@file'), 'at')
    await writeFile(join(here, '-rf'), 'dash')
    await writeFile(join(here, 'run.sh'), '#!/bin/sh\n')
    await chmod(join(here, 'run.sh'), 0o755)
    await symlink('run.sh', join(here, 'link'))
    await writeFile(join(here, 'secret.env'), 'not named')
    const target = join(there, 'deep', 'my code')
    await uploadFolder(shell, {folder: here, files: ['run.sh'], target})
    const files = ['a folder', "a folder/it's – ü.txt", '@file', '-rf', 'run.sh', 'link']
    await uploadFolder(shell, {folder: here, files, target})
    expect((await readdir(target, {recursive: true})).sort()).toEqual([...files].sort())
    expect(await readFile(join(target, "a folder/it's – ü.txt"), 'utf8')).toBe('text')
    expect((await stat(join(target, 'run.sh'))).mode & 0o111).not.toBe(0)
    expect(await readlink(join(target, 'link'))).toBe('run.sh')
    expect(await readdir(join(there, 'deep'))).toEqual(['my code'])
  })

  it('leaves what was there when the connection is cut in mid-transfer, and nothing half', async () => {
    await writeFile(join(here, 'big.bin'), randomBytes(20_000_000))
    await writeFile(join(here, 'small'), 'new')
    const target = join(there, 'code')
    await mkdir(target)
    await writeFile(join(target, 'small'), 'old')
    const relay = await startTcpRelay(sshd.port)
    const other = openFleet([sshd.target('far', {port: relay.port})], makeContext(), {trustNew: true})
    try {
      const far = await other.shell('far')
      const upload = uploadFolder(far, {folder: here, files: ['small', 'big.bin'], target})
      const outcome = expect(upload).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
      await relay.passed(5_000_000)
      relay.cut()
      await outcome
      // The script on the node has its own end to see; it is over when its draft is gone.
      await shell.run(`while [ "$(ls -A '${there}' | wc -l)" -gt 1 ]; do sleep 0.05; done`, {timeout: 20_000})
      expect(await readdir(there)).toEqual(['code'])
      expect(await readFile(join(target, 'small'), 'utf8')).toBe('old')
      expect(await readdir(target)).toEqual(['small'])
    } finally {
      await other.close()
      await relay.stop()
    }
  })

  it('says what went wrong when the target cannot be written', async () => {
    await writeFile(join(there, 'file'), '')
    await writeFile(join(here, 'x'), '')
    await expect(
      uploadFolder(shell, {folder: here, files: ['x'], target: join(there, 'file', 'below')}),
    ).rejects.toMatchObject({code: 'REMOTE_FAILED', details: {stderr: expect.stringContaining('file')}})
  })

  it('rejects when a file vanishes meanwhile, and leaves nothing', async () => {
    await expect(
      uploadFolder(shell, {folder: here, files: ['vanished'], target: join(there, 'code')}),
    ).rejects.toMatchObject({code: 'ENOENT'})
    await shell.run(`while [ "$(ls -A '${there}' | wc -l)" -gt 0 ]; do sleep 0.05; done`, {timeout: 20_000})
  })
})

describe('fetchPaths', () => {
  it('brings files and folders, counts them, and leaves out links that point outside', async () => {
    await mkdir(join(there, 'checkpoints', 'epoch 1'), {recursive: true})
    const data = randomBytes(3_000_000)
    await writeFile(join(there, 'checkpoints', 'epoch 1', 'model.bin'), data)
    await symlink('epoch 1', join(there, 'checkpoints', 'latest'))
    await symlink('/etc/passwd', join(there, 'checkpoints', 'passwd'))
    await symlink('../../up', join(there, 'checkpoints', 'up'))
    await writeFile(join(there, 'model.onnx'), 'onnx')
    await mkdir(join(here, 'checkpoints'))
    await writeFile(join(here, 'checkpoints', 'stale'), 'from before')
    let seen = 0
    const fetched = await fetchPaths(
      shell,
      {folder: there, paths: ['checkpoints/', 'model.onnx'], target: here},
      {onBytes: (bytes) => (seen = bytes)},
    )
    expect(fetched.bytes).toBe(3_000_004)
    expect(fetched.refused.sort()).toEqual(['checkpoints/passwd', 'checkpoints/up'])
    expect(fetched.files.sort()).toEqual(['checkpoints/epoch 1/model.bin', 'checkpoints/latest', 'model.onnx'])
    expect(seen).toBeGreaterThan(3_000_000)
    expect((await readFile(join(here, 'checkpoints', 'latest', 'model.bin'))).equals(data)).toBe(true)
    expect((await readdir(join(here, 'checkpoints'))).sort()).toEqual(['epoch 1', 'latest'])
    expect((await readdir(here)).sort()).toEqual(['checkpoints', 'model.onnx'])
  })

  it('names every path that is not there, and changes nothing', async () => {
    await writeFile(join(there, 'there'), '')
    await expect(
      fetchPaths(shell, {folder: there, paths: ['there', 'not there', 'nor this'], target: here}),
    ).rejects.toMatchObject({code: 'NOT_FOUND', details: {missing: ['not there', 'nor this']}})
    expect(await readdir(here)).toEqual([])
  })

  it('keeps what is here when the connection is cut in mid-transfer', async () => {
    await writeFile(join(there, 'big.bin'), randomBytes(30_000_000))
    await writeFile(join(here, 'big.bin'), 'old')
    const relay = await startTcpRelay(sshd.port)
    const other = openFleet([sshd.target('far', {port: relay.port})], makeContext(), {trustNew: true})
    try {
      const fetching = fetchPaths(
        await other.shell('far'),
        {folder: there, paths: ['big.bin'], target: here},
        {onBytes: (bytes) => bytes > 5_000_000 && relay.cut()},
      )
      await expect(fetching).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
      expect(await readdir(here)).toEqual(['big.bin'])
      expect(await readFile(join(here, 'big.bin'), 'utf8')).toBe('old')
    } finally {
      await other.close()
      await relay.stop()
    }
  })

  it('refuses paths that leave the folder', async () => {
    await expect(fetchPaths(shell, {folder: there, paths: ['../x'], target: here})).rejects.toMatchObject({
      code: 'USAGE',
    })
  })
})
