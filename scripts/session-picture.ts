/**
 * The picture of a terminal in README.md:
 *   node scripts/with-node.mjs scripts/session-picture.ts            draws docs/session.svg from docs/session.json, as `npm run docs` does
 *   node scripts/with-node.mjs scripts/session-picture.ts --record   runs the commands first, on a local rack, and writes docs/session.json
 * What a recording shows is what the program wrote, but for the folder it ran in. The first one installs PyTorch and
 * MLflow.
 */
import {spawn} from 'node:child_process'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {parseArgs} from 'node:util'
import {drawTerminal, type Recording, type Shown} from './pages/terminal.ts'

/** Typed before the picture begins; what they write is not shown. */
const BEFORE = [
  'init digits --template pytorch-ddp --name digits',
  'local up --nodes 3',
  'head start',
  'workspace up --on node-1,node-2',
]
const SHOWN = ['train -- --epochs 5', 'model register digits --alias production', 'status']
const TITLE = 'A terminal session: flexrack train on two of three nodes, model register, status'

const root = resolve(import.meta.dirname, '..')
const [record, picture] = [join(root, 'docs/session.json'), join(root, 'docs/session.svg')]
const {values: options} = parseArgs({
  options: {record: {type: 'boolean', default: false}, environments: {type: 'string'}},
})

if (options.record)
  await writeFile(
    record,
    `${JSON.stringify({title: TITLE, session: await recordSession()} satisfies Recording, null, 2)}\n`,
  )
await writeFile(picture, drawTerminal(JSON.parse(await readFile(record, 'utf8')) as Recording))

async function recordSession(): Promise<Shown[]> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-session-'))
  const run = (words: string): Promise<string> => flexrack(folder, words)
  try {
    for (const words of BEFORE)
      await run(
        words.startsWith('local up') && options.environments
          ? `${words} --environments ${options.environments}`
          : words,
      )
    const shown: Shown[] = []
    for (const words of SHOWN)
      shown.push({typed: `flexrack ${words}`, wrote: (await run(words)).replaceAll(folder, '~')})
    return shown
  } finally {
    for (const words of ['head stop', 'local down'])
      await run(words).catch((error: Error) => console.error(error.message))
    await rm(folder, {recursive: true, force: true})
  }
}

/** Runs a command as a terminal of the picture's width would show it; answers what it wrote, to both of its outputs. */
async function flexrack(folder: string, words: string): Promise<string> {
  console.error(`$ flexrack ${words}`)
  const env = {...process.env, FLEXRACK_HOME: join(folder, 'home'), FORCE_COLOR: '1', COLUMNS: '100'}
  const cwd = words.startsWith('init ') ? folder : join(folder, 'digits')
  const child = spawn(process.execPath, [join(root, 'bin/run.js'), ...words.split(' ')], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let wrote = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (wrote += text))
  const status = await new Promise<number>((done, fail) =>
    child.on('error', fail).on('close', (code) => done(code ?? 130)),
  )
  if (status !== 0) throw new Error(`flexrack ${words} ended with status ${status}:\n${wrote}`)
  return wrote
}
