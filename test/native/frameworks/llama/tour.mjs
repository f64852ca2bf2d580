/** Each model on the GPU and on the CPU: greedy tokens, and the probabilities of every word after each word of a fixed text. llama_tour.py compares them.
 * tour.mjs RESULTS (MODEL PLAIN)... */
import {writeFileSync} from 'node:fs'
import {getLlama} from 'node-llama-cpp'

const PROMPT = [1, ...Array.from({length: 40}, (_, at) => 3 + ((at * 37) % 256))]
const COUNT = 24

async function compute(llama, model, flashAttention) {
  const loaded = await llama.loadModel({modelPath: model, gpuLayers: llama.gpu === false ? 0 : 99})
  const context = await loaded.createContext({
    contextSize: 256,
    batchSize: 64,
    flashAttention,
    sequences: 1,
    threads: 2,
  })
  const sequence = context.getSequence()
  const read = await sequence.controlledEvaluate(
    PROMPT.map((token) => [token, {generateNext: {probabilities: true, options: {temperature: 0}}}]),
  )
  const probabilities = read.map((one) =>
    [...one.next.probabilities].sort(([a], [b]) => a - b).map(([, probability]) => probability),
  )
  await sequence.clearHistory()
  const tokens = []
  for await (const token of sequence.evaluate(PROMPT, {temperature: 0})) {
    tokens.push(token)
    if (tokens.length === COUNT) break
  }
  const layers = loaded.gpuLayers
  await context.dispose()
  await loaded.dispose()
  return {tokens, probabilities, layers}
}

const gpu = await getLlama({gpu: 'cuda', build: 'never', progressLogs: false, skipDownload: true})
const cpu = await getLlama({gpu: false, build: 'never', progressLogs: false, skipDownload: true})
if (gpu.gpu !== 'cuda') throw new Error(`llama.cpp found no CUDA: ${gpu.gpu}`)
// Each model is two files: as it is, and with the same weights as plain numbers, which only the CPU computes.
const [results, ...models] = process.argv.slice(2)
const found = []
for (let at = 0; at < models.length; at += 2) {
  const [model, plain] = models.slice(at, at + 2)
  const exact = await compute(cpu, plain, false)
  for (const flashAttention of [false, true]) {
    found.push({
      model,
      flashAttention,
      gpu: await compute(gpu, model, flashAttention),
      cpu: await compute(cpu, model, flashAttention),
      exact,
    })
  }
}
writeFileSync(results, JSON.stringify(found))
process.exit(0)
