import {execFileSync} from 'node:child_process'
import {readFile} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {findNotebooks} from '../../src/lib/notebook/index.ts'
import {ask, KernelSession, startKernel} from '../support/kernel.ts'
import {interrupted, NotebookRack, processes, typed} from '../support/notebook.ts'

let racks: NotebookRack

beforeAll(async () => {
  racks = await NotebookRack.start()
})

afterAll(() => racks?.stop())

test('in an image its Python runs the cells, in the folder of their notebook; they are interrupted, started anew, ended when idle, and nothing is left', async () => {
  const {host, folder, context} = racks
  const layout = join(folder, 'layout')
  execFileSync('python3', [resolve(import.meta.dirname, '../node/image_support.py'), layout, 'python'])
  const {workspace} = await racks.notebook('imaged', {image: `oci:${layout}:python`}, 25)
  const server = await racks.reach('imaged')
  const made = await ask(server, '/api/sessions', {
    token: server.token,
    method: 'POST',
    body: {path: 'deep/a.ipynb', name: 'a', type: 'notebook', kernel: {name: 'python3'}},
  })
  const kernel = (JSON.parse(made.text) as {kernel: {id: string}}).kernel.id
  const session = await KernelSession.open(server, kernel)
  expect(
    await session.output(
      'import os, sys, beside; print(open("/etc/os-release").read().split()[1], sys.prefix, sys.version_info[:2] == tuple(map(int, os.environ["EXPECTED"].split("."))), os.environ["GREETING"], os.getcwd())'.replace(
        'os.environ["EXPECTED"]',
        JSON.stringify(workspace.environment!.python.split('.').slice(0, 2).join('.')),
      ),
    ),
  ).toBe(`image" ${workspace.environment!.path} True hello ${workspace.code}/deep\n`)
  await typed(server, 'cat /etc/os-release >typed\r')
  await vi.waitFor(
    async () => expect(await readFile(join(workspace.code, 'typed'), 'utf8')).toContain('ID=testimage'),
    {timeout: 30_000},
  )
  session.close()
  await interrupted(server, kernel)
  expect(
    (await ask(server, `/api/kernels/${kernel}/restart`, {token: server.token, method: 'POST', body: {}})).status,
  ).toBe(200)
  const again = await KernelSession.open(server, kernel)
  expect(await again.output('print("kept" in globals())')).toContain('False\n')
  again.run('import subprocess; subprocess.Popen(["sleep", "5432"])')
  again.close()
  await vi.waitFor(
    async () =>
      expect((await findNotebooks(host, 'imaged', context))[0]).toMatchObject({
        kernels: [],
        ended: [{what: 'the kernel of deep/a.ipynb', why: 'idle for 25 s'}],
      }),
    {timeout: 90_000, interval: 500},
  )
  expect(await processes('sleep\0' + '5432')).toEqual([])
  await racks.end('imaged')
})

test('in a sandbox of an image the server is inside, too, made of the Python of the image', async () => {
  const {workspace} = await racks.notebook('both', {
    image: `oci:${racks.folder}/layout:python`,
    isolate: {network: 'none'},
  })
  const server = await racks.reach('both')
  const kernel = await startKernel(server)
  const session = await KernelSession.open(server, kernel)
  expect(
    await session.output(
      'import os, sys, helper; print(open("/etc/os-release").read().split()[1], sys.prefix, helper.ANSWER, os.environ["FLEXRACK_SANDBOX"], os.path.exists(os.environ["JUPYTER_CONFIG_DIR"] + "/../settings.json"))',
    ),
  ).toBe(`image" ${workspace.environment!.path} 42 1 False\n`)
  session.close()
  await interrupted(server, kernel)
  await racks.end('both')
})
