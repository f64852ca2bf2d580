import {execFile} from 'node:child_process'
import {copyFile, mkdir, readFile, rm, writeFile} from 'node:fs/promises'
import {createHash} from 'node:crypto'
import {join, resolve} from 'node:path'
import {promisify} from 'node:util'
import {sharedEnvironments} from './environments.ts'

const run = promisify(execFile)
const FRAMEWORKS = resolve(import.meta.dirname, '../native/frameworks')
const LOCKS = ['llama/package.json', 'llama/package-lock.json', 'llama.txt']

/** npm's node-llama-cpp with llama.cpp built for CUDA, and NVIDIA's libraries that it asks for. */
export interface LlamaCuda {
  /** A folder that Node.js finds it from. */
  modules: string
  /** For LD_LIBRARY_PATH. */
  libraries: string
}

/** Installed once a machine, of the versions that the tests of the native layer have locked. */
export async function llamaCuda(): Promise<LlamaCuda> {
  const locks = await Promise.all(LOCKS.map((name) => readFile(join(FRAMEWORKS, name))))
  const hash = createHash('sha256').update(Buffer.concat(locks)).digest('hex').slice(0, 12)
  const folder = join(await sharedEnvironments(), `llama-cuda-${hash}`)
  const parts = ['cublas', 'cuda_runtime', 'cu13'].map((name) => join(folder, 'python/nvidia', name, 'lib'))
  const found = {modules: folder, libraries: parts.join(':')}
  if (await readFile(join(folder, 'complete')).catch(() => undefined)) return found
  await rm(folder, {recursive: true, force: true})
  await mkdir(folder, {mode: 0o700})
  for (const name of ['package.json', 'package-lock.json'])
    await copyFile(join(FRAMEWORKS, 'llama', name), join(folder, name))
  // Not `npm ci`: its lock would have to name builds for other systems, which a registry may not have.
  const npm = ['install', '--no-save', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund']
  await run('npm', npm, {cwd: folder})
  const pip = ['-m', 'pip', 'install', '--quiet', '--target', join(folder, 'python')]
  await run('python3', [...pip, '--require-hashes', '--requirement', join(FRAMEWORKS, 'llama.txt')])
  await writeFile(join(folder, 'complete'), '')
  return found
}

/**
 * A server of OpenAI's completions by it: `serve.mjs DEVICE HOST PORT MODEL`, DEVICE `cuda` or `cpu`. An answer also has
 * the tokens themselves, and how many layers of the model are on a GPU.
 */
export const llamaServer = ({modules}: LlamaCuda): string => `
import {createServer} from 'node:http'
import {createRequire} from 'node:module'
import {pathToFileURL} from 'node:url'
const found = createRequire(${JSON.stringify(join(modules, 'package.json'))}).resolve('node-llama-cpp')
const {getLlama} = await import(pathToFileURL(found))
const [device, host, port, file] = process.argv.slice(2)
const llama = await getLlama({gpu: device === 'cuda' ? 'cuda' : false, build: 'never', progressLogs: false, skipDownload: true})
if (device === 'cuda' && llama.gpu !== 'cuda') throw new Error('llama.cpp found no CUDA')
const model = await llama.loadModel({modelPath: file, gpuLayers: device === 'cuda' ? 99 : 0})
const context = await model.createContext({contextSize: 256, batchSize: 64, sequences: 1, threads: 1})
const sequence = context.getSequence()
let last = Promise.resolve()
async function complete({prompt, max_tokens}) {
  await sequence.clearHistory()
  const tokens = []
  for await (const token of sequence.evaluate([1, ...model.tokenize(prompt)], {temperature: 0})) {
    tokens.push(token)
    if (tokens.length >= max_tokens) break
  }
  const usage = {prompt_tokens: prompt.length, completion_tokens: tokens.length}
  return {object: 'text_completion', usage, tokens, layers: model.gpuLayers, choices: [{index: 0, text: model.detokenize(tokens)}]}
}
createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const answer = (status, value) => response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value))
  if (request.url === '/health') return answer(200, {})
  if (request.url === '/v1/models') return answer(200, {object: 'list', data: [{id: 'llama', object: 'model'}]})
  const mine = last.then(() => complete(JSON.parse(body)))
  last = mine.catch(() => {})
  mine.then((value) => answer(200, value), (error) => answer(500, {error: {message: String(error)}}))
}).listen(Number(port), host)
process.on('SIGTERM', () => process.exit(0))
`
