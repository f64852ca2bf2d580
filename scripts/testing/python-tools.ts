/**
 * The tools that check the Python (pyproject.toml) and the layout of every language here, in an environment of their
 * own: exact versions with hashes, made once for each content of scripts/checks.txt.
 */
import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {existsSync, globSync, readFileSync} from 'node:fs'
import {rename, rm} from 'node:fs/promises'
import {join, resolve} from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')
const LOCK = join(root, 'scripts/checks.txt')

/** The folder of their programs. Throws where python3 or the package index does not give them. */
export async function pythonTools(): Promise<string> {
  const cache = join(root, 'node_modules/.cache')
  const folder = join(
    cache,
    `python-checks-${createHash('sha256').update(readFileSync(LOCK)).digest('hex').slice(0, 16)}`,
  )
  const done = `${folder}/complete`
  if (!existsSync(done)) {
    await rm(folder, {recursive: true, force: true})
    console.log('installing the checks of Python and C++')
    execFileSync(
      'python3',
      [join(import.meta.dirname, 'uv.py'), 'make', folder, '--require-hashes', '--only-binary', ':all:', '-r', LOCK],
      {stdio: ['ignore', 'ignore', 'inherit']},
    )
    // Last: what was broken off is made anew.
    execFileSync('cp', [LOCK, `${done}.${process.pid}`])
    await rename(`${done}.${process.pid}`, done)
  }
  return join(folder, 'bin')
}

/**
 * How each language is laid out, or checked: a title, a program and its arguments. `tools` is the folder of
 * pythonTools().
 */
export function layouts(tools: string, check: boolean): {title: string; command: string; args: string[]}[] {
  const oxfmt = [join(root, 'node_modules/oxfmt/bin/oxfmt'), ...(check ? ['--check'] : []), ...TYPESCRIPT]
  return [
    {title: 'layout of TypeScript', command: process.execPath, args: oxfmt},
    {
      title: 'layout of Python',
      command: join(tools, 'ruff'),
      args: ['format', '--no-cache', ...(check ? ['--check'] : [])],
    },
    {
      title: 'layout of the native layer',
      command: join(tools, 'clang-format'),
      args: [...(check ? ['--dry-run', '-Werror'] : ['-i']), ...nativeSources()],
    },
  ]
}

/** Named one by one: oxfmt goes through whole folders, JSON and Markdown too, where nothing is named. */
const TYPESCRIPT = ['{src,test,scripts,bench,native,bin}/**/*.{ts,mjs,js}', '*.ts']

/** C and C++ for clang-format; native/.clang-format-ignore says which of them it leaves alone. */
function nativeSources(): string[] {
  return globSync('native/**/*.{c,cpp,cu,h}', {
    cwd: root,
    exclude: (path) => path === 'native/build' || path === 'native/test/fuzz/corpus',
  })
}
