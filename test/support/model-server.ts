import {spawn} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {loadRecipe, rangeOf, renderRecipe} from '../../src/lib/recipe/index.ts'
import {buildEnvironments} from './built-environments.ts'
import {freePort} from './sshd.ts'

export interface ModelServer {
  url: string
  /** Of the environment that the server runs in. It has tritonclient, which MLServer needs. */
  python: string
  pid: number
  stop(): Promise<void>
}

/** The server of the runtime `onnx` for one model, on loopback, as a node would start it; without a rack. */
export async function startModelServer(name: string, model: Buffer): Promise<ModelServer> {
  const recipe = await loadRecipe('onnx', process.env)
  const [environment] = await buildEnvironments([recipe.requirements], rangeOf(recipe.python))
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-model-'))
  const python = join(environment!, 'bin/python')
  const port = await freePort()
  const rendered = renderRecipe(recipe, {
    python,
    environment: environment!,
    folder,
    host: '127.0.0.1',
    ports: {http: port},
    model: name,
    version: '1',
    modelFile: join(folder, 'model.onnx'),
    modelFolder: folder,
  })
  await writeFile(join(folder, 'model.onnx'), model)
  for (const [file, text] of Object.entries(rendered.files)) await writeFile(join(folder, file), text)
  const child = spawn(rendered.argv[0]!, rendered.argv.slice(1), {
    cwd: folder,
    env: {PATH: process.env.PATH, HOME: folder, ...rendered.env},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + String(chunk)).slice(-5000)))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  const isReady = (): Promise<boolean> =>
    fetch(url + rendered.readyPath).then(
      (answer) => answer.status === 200,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`the model server ended with ${child.exitCode}: ${output}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url,
    python,
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, {recursive: true, force: true})
    },
  }
}
