import {readFile, readdir} from 'node:fs/promises'
import {request} from 'node:http'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {sendFile} from '../../src/lib/artifact/index.ts'
import {planHead} from '../../src/lib/head/index.ts'
import {startService} from '../../src/lib/host/index.ts'
import type {ProgramFile} from '../../src/lib/protocol/index.ts'
import type {TwoAccounts} from './second-user.ts'

/**
 * argv: the node program, a tag, a folder to make. Makes and removes the folder of a launcher again and again, while
 * somebody races for its name: {strange: how often it was not ours after all, refused: the different errors}.
 */
export const MAKE_SCRATCH = `
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from flexrack_node.rank import mpi
os.umask(0o077)
os.makedirs(sys.argv[3], exist_ok=True)
strange, refused, end = 0, set(), time.monotonic() + 3
while time.monotonic() < end:
    try:
        path = mpi.make_scratch(sys.argv[2])
    except OSError as error:
        refused.add(str(error))
        continue
    try:
        about = os.lstat(path)
        os.rmdir(path)  # nobody but us could
        if about.st_uid != os.geteuid():
            raise PermissionError
    except OSError:
        strange += 1
print(json.dumps({"strange": strange, "refused": sorted(refused)}))
`

/** Ranks that tick until the file `go` is there; the first says where the relay is, in relay.json of that folder. */
export const rankScript = (go: string, folder: string): string => `
import json, os, time
if os.environ["RANK"] == "0":
    part = ${JSON.stringify(join(folder, 'relay.part'))}
    with open(part, "w") as file:
        json.dump({"port": int(os.environ["MLFLOW_TRACKING_URI"].rpartition(":")[2]), "token": os.environ["MLFLOW_TRACKING_TOKEN"]}, file)
    os.replace(part, ${JSON.stringify(join(folder, 'relay.json'))})
while not os.path.exists(${JSON.stringify(go)}):
    time.sleep(0.05)
`

/** The head's server as the head starts it, without the environment that MLflow needs: it says that MLflow is away. */
export async function startDoor({rack, fleet, host, context}: TwoAccounts): Promise<void> {
  for (const {kind, input, title} of (await planHead(rack, fleet, context, 'start')).steps) {
    if (kind === 'head.place') {
      const {file, node: _, ...rest} = input as ProgramFile & {file: string; node: string}
      await sendFile(host, {file, verb: kind, input: rest, title}, context)
    }
    if (kind === 'head.start') {
      const {node, program, config} = input as {node: string; program: string; config: Record<string, unknown>}
      const {path} = await host.call('head.configure', {
        config: {...config, version: 'test', python: '/nowhere/python'},
      })
      await startService(host, {
        id: 'head',
        argv: [node, program, path],
        restart: {max: 3, windowSeconds: 60},
        grace: 5,
      })
    }
  }
}

/** What must be known to nobody else: tokens, secrets and private keys in the owner's files. */
export async function secretsOf({roots}: TwoAccounts): Promise<string[]> {
  const found: string[] = []
  for (const path of (await Promise.all(roots.map(below))).flat()) {
    if (/\/program\//.test(path)) continue
    const text = await readFile(path, 'utf8').catch(() => '')
    if (path.endsWith('/admin-token')) found.push(text.trim())
    for (const [, secret] of text.matchAll(/"(?:secret|token)":\s*"([^"]{16,})"/g)) found.push(secret as string)
    for (const [, body] of text.matchAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\n)([^\\\n]+)/g))
      found.push(body as string)
  }
  return [...new Set(found)]
}

/** Every file and folder below one, itself included. */
export async function below(folder: string): Promise<string[]> {
  return [
    folder,
    ...(await readdir(folder, {recursive: true, withFileTypes: true})).map((one) => join(one.parentPath, one.name)),
  ]
}

/** Writes a metric as a rank does; the status of the answer. */
export function postMetric({port, token}: {port: number; token: string}): Promise<number> {
  const body = JSON.stringify({run_id: 'r', key: 'loss', value: 1, step: 1, timestamp: 1})
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path: '/api/2.0/mlflow/runs/log-metric',
        method: 'POST',
        agent: false,
        timeout: 30_000,
        headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': body.length},
      },
      (answer) => {
        answer.resume()
        answer.once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    call.once('timeout', () => call.destroy(new Error('no answer within two minutes')))
    call.once('error', reject)
    call.end(body)
  })
}

/** Looks until there is something; at most two minutes. */
export async function until<T>(look: () => Promise<T | undefined | null>): Promise<T> {
  for (const end = Date.now() + 240_000; Date.now() < end; await pause(100)) {
    const found = await look()
    if (found !== undefined && found !== null) return found
  }
  throw new Error('it did not come within two minutes')
}
