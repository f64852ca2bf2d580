import {once} from 'node:events'
import {mkdir, readFile} from 'node:fs/promises'
import {createServer} from 'node:net'
import {homedir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import type {Host} from '../../src/lib/host/index.ts'
import {findNotebooks} from '../../src/lib/notebook/index.ts'
import {ask, KernelSession, startKernel} from '../support/kernel.ts'
import {interrupted, NotebookRack, typed} from '../support/notebook.ts'

let racks: NotebookRack

beforeAll(async () => {
  racks = await NotebookRack.start()
})

afterAll(() => racks?.stop())

/** What somebody tries who may write cells. */
function hostile(host: Host, folder: string, port: number): string {
  const paths = [
    join(homedir(), '.ssh'),
    join(dirname(host.root), '.ssh/id_ed25519'),
    join(host.root, 'runs'),
    join(host.root, 'workspaces/other'),
    join(host.root, 'notebooks/caged/settings.json'),
    join(host.root, 'gpu'),
    folder,
  ]
  return `
import json, os, socket, ctypes, subprocess
def fails(act):
    try: act()
    except OSError: return True
    return False
def connect():
    with socket.socket() as one:
        one.settimeout(3); one.connect(("127.0.0.1", ${port}))
os.symlink(${JSON.stringify(homedir())}, "home"); os.symlink(${JSON.stringify(host.root)}, "flexrack"); os.symlink("/proc/1/root/root", "other")
kernels = os.environ["JUPYTER_PATH"]
open("made", "w").write("inside")
print(json.dumps({
  "seen": [path for path in ${JSON.stringify(paths)} if os.path.exists(path)],
  "home": os.path.expanduser("~") == ${JSON.stringify(dirname(host.root))},
  "flexrack": [path for name in ("workspaces", "notebooks") for path in os.listdir(${JSON.stringify(host.root)} + "/" + name)],
  "runs": fails(lambda: os.kill(${process.pid}, 0)),
  "signals": fails(lambda: os.kill(${process.ppid}, 9)),
  "processes": [one for one in os.listdir("/proc") if one.isdigit() and int(one) > 200],
  "network": fails(connect),
  "kernelspec": fails(lambda: open(kernels + "/kernels/python3/kernel.json", "w")),
  "config": fails(lambda: open(os.environ["JUPYTER_CONFIG_DIR"] + "/jupyter_server_config.json", "w")),
  "token": fails(lambda: open(os.environ["JUPYTER_TOKEN_FILE"], "w")),
  "packages": fails(lambda: open(os.path.join(os.path.dirname(json.__file__), "x.py"), "w")),
  "socket": fails(lambda: os.stat(${JSON.stringify(join(host.root, 's'))})),
  "namespaces": ctypes.CDLL(None).unshare(0x10000000) == -1,
}))`
}

test('in a sandbox whatever one can do from the server is inside: cells, files, terminals; a stop leaves nothing', async () => {
  const {host, folder, context} = racks
  const door = createServer().listen(0, '127.0.0.1')
  await once(door, 'listening')
  for (const one of ['runs/secret', 'workspaces/other', '../.ssh/id_ed25519'])
    await mkdir(join(host.root, one), {recursive: true})
  const {notebook, workspace} = await racks.notebook('caged', {isolate: {network: 'none'}})
  expect(notebook).toMatchObject({state: 'ready', endsAt: null})
  const server = await racks.reach('caged')
  expect((await ask(server, '/api/status')).status).toBe(403)
  const kernel = await startKernel(server)
  const session = await KernelSession.open(server, kernel)
  const {port} = door.address() as {port: number}
  expect(JSON.parse(await session.output(hostile(host, folder, port)))).toEqual({
    seen: [],
    home: true,
    flexrack: ['caged', 'caged'],
    runs: true,
    signals: true,
    processes: [],
    network: true,
    kernelspec: true,
    config: true,
    token: true,
    packages: true,
    socket: true,
    namespaces: true,
  })
  expect(await session.output('import sys, helper; print(sys.prefix, helper.ANSWER, os.environ["GREETING"])')).toBe(
    `${workspace.environment!.path} 42 hello\n`,
  )
  expect(await readFile(join(workspace.code, 'made'), 'utf8')).toBe('inside')
  // What the server itself follows, it follows inside.
  const listed = async (path: string): Promise<string[]> => {
    const {status, text} = await ask(server, `/api/contents/${path}`, {token: server.token})
    return status === 200 ? (JSON.parse(text) as {content: {name: string}[]}).content.map((one) => one.name) : []
  }
  expect(await listed('')).toContain('made')
  expect([await listed('home'), await listed('other'), await listed('flexrack/runs')]).toEqual([[], [], []])
  await typed(server, `ls -d ${folder} ~/.ssh /proc/[0-9][0-9][0-9][0-9]*; echo end >typed\r`)
  await vi.waitFor(async () => expect(await readFile(join(workspace.code, 'typed'), 'utf8')).toBe('end\n'), {
    timeout: 30_000,
  })
  session.close()
  await interrupted(server, kernel)
  await vi.waitFor(
    async () => expect((await findNotebooks(host, 'caged', context))[0]!.kernels).toMatchObject([{kind: 'python3'}]),
    {timeout: 30_000, interval: 200},
  )
  // It is started anew with what Jupyter and IPython have left in their folders.
  expect((await racks.notebook('caged', {isolate: {network: 'none'}})).notebook.kernels).toEqual([])
  door.close()
  await racks.end('caged')
})
