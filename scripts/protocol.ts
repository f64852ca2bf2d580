// npm run protocol: writes src/lib/protocol/ (TypeScript) node/flexrack_node/schema/ (Python) and numbers of files from
// protocol/*.json. With --check it writes nothing and fails if something is not current.
import {mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {nativeFiles, pythonCalls, pythonFiles, typescriptFiles} from './protocol/files.ts'
import {pythonOf} from './protocol/python.ts'
import {readTopics} from './protocol/schema.ts'
import {typescriptIndex, typescriptOf} from './protocol/typescript.ts'

const root = resolve(import.meta.dirname, '..')
const FOLDERS = ['src/lib/protocol', 'node/flexrack_node/schema']
const topics = readTopics(join(root, 'protocol'))
const files: Record<string, string> = {
  'src/lib/base/file-schemas.ts': typescriptFiles(topics),
  'node/flexrack_node/base/file_schemas.py': pythonFiles(topics),
  'node/flexrack_node/schema/kept.py': pythonCalls(topics),
  'native/server/file_schemas.h': nativeFiles(topics),
  'src/lib/protocol/index.ts': typescriptIndex(topics),
  'node/flexrack_node/schema/__init__.py':
    '"""The protocol as TypedDicts, a module a topic. Nothing imports it while the program runs."""\n',
}
for (const [name, topic] of topics) {
  if (topic.among !== 'nodes') files[`src/lib/protocol/${name}.ts`] = typescriptOf(name, topic)
  files[`node/flexrack_node/schema/${name}.py`] = pythonOf(name, topic)
}
const stale: string[] = []
for (const [path, text] of Object.entries(files))
  if ((await readFile(join(root, path), 'utf8').catch(() => '')) !== text) stale.push(path)
const found = (
  await Promise.all(
    FOLDERS.map(async (folder) =>
      (await readdir(join(root, folder)).catch(() => [])).map((name) => `${folder}/${name}`),
    ),
  )
).flat()
const gone = found.filter((path) => /\.(ts|py)$/.test(path) && !(path in files))

if (process.argv.includes('--check')) {
  if (stale.length + gone.length > 0) {
    console.error(`not current: ${[...stale, ...gone].join(', ')}\nrun: npm run protocol`)
    process.exitCode = 1
  }
} else {
  for (const path of stale) {
    await mkdir(dirname(join(root, path)), {recursive: true})
    await writeFile(join(root, path), files[path] ?? '')
  }
  for (const path of gone) await rm(join(root, path))
  console.log(`${topics.size} topics; ${stale.length} files written, ${gone.length} removed`)
}
