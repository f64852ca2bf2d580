/**
 * The whole lifecycle on a rack of three nodes on this machine, with the very commands a user types:
 *   npm run quickstart [-- --keep] [--folder DIR]
 * Ends with a prediction and leaves nothing running unless --keep is given.
 */
import {spawn, type ChildProcess} from 'node:child_process'
import {existsSync} from 'node:fs'
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises'
import {availableParallelism} from 'node:os'
import {join, relative, resolve} from 'node:path'
import {parseArgs} from 'node:util'
import {drawDigit, readNpy} from './digit.ts'

const root = resolve(import.meta.dirname, '..')
const {values: options} = parseArgs({
  options: {
    keep: {type: 'boolean', default: false},
    folder: {type: 'string', default: join(root, '.flexrack')},
    environments: {type: 'string'},
  },
})
const home = join(resolve(options.folder), 'home')
const project = join(resolve(options.folder), 'digits')
const env = {...process.env, FLEXRACK_HOME: home}
const timings: [string, number][] = []
let interrupted = false
let running: ChildProcess | undefined
// The command that runs gets a terminal's Ctrl-C too, and `kill`'s SIGTERM from here. It stops by itself; then we tidy up.
process.on('SIGINT', () => (interrupted = true))
process.on('SIGTERM', () => {
  interrupted = true
  running?.kill('SIGTERM')
})

interface Command {
  /** What this step is called in the table of times. */
  what: string
  /** Keep stdout instead of showing it. */
  capture?: boolean
}

class CommandFailed extends Error {}

/** Runs `flexrack ...args` as a user would and returns its stdout if captured. */
async function flexrack(args: string[], command: Command): Promise<Buffer> {
  if (interrupted) throw new CommandFailed('interrupted')
  const started = performance.now()
  process.stderr.write(`\n\u001B[1m$ flexrack ${args.join(' ')}\u001B[22m\n`)
  const child = spawn(process.execPath, [join(root, 'bin', 'run.js'), ...args], {
    cwd: existsSync(project) ? project : root,
    env,
    stdio: ['inherit', command.capture ? 'pipe' : 'inherit', 'inherit'],
  })
  running = child
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const status = await new Promise<number>((done) => child.on('close', (code) => done(code ?? 130)))
  running = undefined
  timings.push([command.what, performance.now() - started])
  if (status !== 0) throw new CommandFailed(`flexrack ${args.join(' ')} ended with status ${status}`)
  return Buffer.concat(chunks)
}

async function lifecycle(): Promise<void> {
  await mkdir(home, {recursive: true, mode: 0o700})
  await rm(project, {recursive: true, force: true})
  await flexrack(['init', project, '--template', 'pytorch-ddp', '--name', 'digits'], {what: 'scaffold the project'})
  const shared = options.environments ? ['--environments', options.environments] : []
  await flexrack(['local', 'up', '--nodes', '3', ...shared], {what: 'start a rack of three nodes'})
  await flexrack(['head', 'start'], {what: 'start the head (installs MLflow the first time)'})
  // Both nodes are this machine: ranks beyond its cores would only wait for each other.
  const ranks = availableParallelism() < 4 ? ['--processes-per-node', '1'] : []
  await flexrack(['train', ...ranks], {what: 'train on two nodes (installs PyTorch the first time)'})
  await flexrack(['model', 'register', 'digits', '--alias', 'production'], {what: 'register the model'})
  await flexrack(['endpoint', 'deploy', 'digits'], {what: 'deploy it (installs the model server the first time)'})
  await predict()
}

/** Sends the test digits through the gateway, shows the accuracy and one prediction. */
async function predict(): Promise<void> {
  const test = await flexrack(['workspace', 'exec', '--', 'python', 'data.py', 'labels', 'images'], {
    what: 'fetch the test digits',
    capture: true,
  })
  const lineEnd = test.indexOf('\n')
  const labels = JSON.parse(test.subarray(0, lineEnd).toString()) as number[]
  await writeFile(join(project, 'digits.npy'), test.subarray(lineEnd + 1))
  const answer = await flexrack(['endpoint', 'invoke', 'digits', '--input', 'digits.npy', '--json'], {
    what: `predict ${labels.length} digits`,
    capture: true,
  })
  const scores = (JSON.parse(answer.toString()) as {outputs: {data: number[]; shape: number[]}[]}).outputs[0]
  if (!scores) throw new Error('the endpoint answered without an output')
  const predictions = labels.map((_, index) => argmax(scores.data.slice(index * 10, index * 10 + 10)))
  const right = predictions.filter((prediction, index) => prediction === labels[index]).length
  const accuracy = right / labels.length
  const {data, shape} = readNpy(await readFile(join(project, 'digits.npy')))
  const pixels = (shape[2] ?? 8) * (shape[3] ?? 8)
  console.log(`\n${drawDigit(data.subarray(0, pixels), shape[3] ?? 8)}\n`)
  console.log(`prediction: ${predictions[0]}   (it is a ${labels[0]})`)
  console.log(`test accuracy through the endpoint: ${accuracy.toFixed(4)}   (${right} of ${labels.length})`)
  if (accuracy < 0.95) throw new CommandFailed(`the accuracy ${accuracy.toFixed(4)} is below 0.95`)
}

function argmax(values: number[]): number {
  return values.indexOf(Math.max(...values))
}

/** Stops what was started; every step is tried even if one before it fails. */
async function tidyUp(): Promise<void> {
  interrupted = false
  for (const args of [
    ['endpoint', 'remove', 'digits', '--yes'],
    ['head', 'stop'],
    ['local', 'down'],
  ]) {
    await flexrack(args, {what: 'stop everything', capture: true}).catch((error: Error) =>
      process.stderr.write(`${error.message}\n`),
    )
  }
}

function showTimings(): void {
  const byStep = new Map<string, number>()
  for (const [what, milliseconds] of timings) byStep.set(what, (byStep.get(what) ?? 0) + milliseconds)
  console.log('\nwhere the time went')
  for (const [what, milliseconds] of byStep) console.log(`  ${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${what}`)
}

function showNext(): void {
  const here = relative(process.cwd(), project) || '.'
  console.log(
    options.keep
      ? '\nthe rack, the head and the endpoint are still running; try'
      : '\nnothing is left running; `npm run quickstart -- --keep` leaves it up, then try',
  )
  console.log(`  export FLEXRACK_HOME=${home}; alias flexrack='node ${join(root, 'bin', 'run.js')}'; cd ${here}`)
  for (const next of [
    'flexrack status',
    'flexrack runs show',
    'flexrack head ui',
    'flexrack train -- --epochs 20',
    'flexrack endpoint show digits',
    'flexrack local down',
  ])
    console.log(`  ${next}`)
}

let failure: Error | undefined
try {
  await lifecycle()
} catch (error) {
  failure = error as Error
}
if (!options.keep) await tidyUp()
showTimings()
if (failure) {
  process.stderr.write(`\nthe quickstart did not get through: ${failure.message}\n`)
  process.exitCode = 1
} else showNext()
