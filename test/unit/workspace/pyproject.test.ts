import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {PROJECT_LOCK, ProjectFiles} from '../../../src/lib/workspace/index.ts'
import {readSources, type Requirements} from '../../../src/lib/workspace/requirements.ts'

let folder: string
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'flexrack-pyproject-'))))
afterEach(() => rm(folder, {recursive: true}))

const PROJECT = `[project]
name = "digits"
dependencies = [
  "numpy>=1.26, <3",  # arrays
  'colorama ; sys_platform == "win32"',
]
[project.optional-dependencies]
plot = ["matplotlib"]
all = ["digits[plot]"]
[dependency-groups]
dev = ["pytest", {include-group = "lint"}]
lint = ["ruff"]
`
const pyproject = (text: string): Promise<void> => writeFile(join(folder, 'pyproject.toml'), text)
const lock = (text: string): Promise<void> => writeFile(join(folder, 'uv.lock'), text)
const read = (named = 'pyproject.toml'): Promise<Requirements> => new ProjectFiles().requirements(folder, named)

describe('a pyproject.toml without a lock file', () => {
  test('gives its dependencies, and extras and groups that are named, each with its line', async () => {
    await pyproject(PROJECT)
    expect(await read()).toEqual({
      requirements: 'numpy>=1.26, <3\ncolorama ; sys_platform == "win32"\n',
      constraints: '',
      origins: ['pyproject.toml:4', 'pyproject.toml:5'],
    })
    expect((await read('pyproject.toml[all, dev]')).requirements.split('\n').slice(2)).toEqual([
      'matplotlib',
      'pytest',
      'ruff',
      '',
    ])
    expect((await read('pyproject.toml[all, dev]')).origins.slice(2)).toEqual([
      'pyproject.toml:8',
      'pyproject.toml:11',
      'pyproject.toml:12',
    ])
  })

  test("follows uv's sources and indexes", async () => {
    await pyproject(`[project]
dependencies = ["torch", "My.Tool[a]>1; python_version > '3.9'"]
[tool.uv.sources]
torch = {index = "cpu"}
my-tool = {git = "https://git.example/tool", tag = "v2"}
[[tool.uv.index]]
name = "cpu"
url = "https://wheels.example/cpu"
`)
    expect((await read()).requirements).toBe(
      "--extra-index-url https://wheels.example/cpu\ntorch\nMy.Tool[a] @ git+https://git.example/tool@v2 ; python_version > '3.9'\n",
    )
  })

  test.each([
    [
      '[tool.poetry.dependencies]\nnumpy = "*"\n',
      "pyproject.toml has Poetry's own table, and no [project]",
      'poetry export',
    ],
    ['[project]\ndynamic = ["dependencies"]\n', 'dependencies that its build backend makes', 'requirements file'],
    ['[build-system]\n', 'no [project] table', 'requirements file'],
    [
      '[project]\ndependencies = ["mine"]\n[tool.uv.sources]\nmine = {path = "../mine"}\n',
      'pyproject.toml:2: mine comes from ../mine, a folder of this machine',
      'package index',
    ],
    ['[project]\ndependencies = ["./mine"]\n', 'names a folder of this machine', 'imports modules from there'],
    ['[project\n', 'pyproject.toml is no TOML', ''],
  ])('that nobody else can install from is refused, with the way out (%#)', async (text, message, hint) => {
    await pyproject(text)
    await expect(read()).rejects.toMatchObject({
      code: 'CHECK_FAILED',
      message: expect.stringContaining(message) as string,
      ...(hint && {hint: expect.stringContaining(hint) as string}),
    })
  })

  test('that has no extra of the name says so', async () => {
    await pyproject(PROJECT)
    await expect(read('pyproject.toml[plots]')).rejects.toMatchObject({
      message: 'pyproject.toml has neither an extra nor a dependency group plots',
      details: {known: ['plot', 'all', 'dev', 'lint']},
    })
  })
})

const HEAD = 'version = 1\nrevision = 3\nrequires-python = ">=3.10"\n\n'
const PYPI = '{ registry = "https://pypi.org/simple" }'
const LOCK = `${HEAD}[[package]]
name = "digits"
source = { virtual = "." }
dependencies = [
    { name = "colorama", marker = "sys_platform == 'win32'" },
    { name = "numpy", version = "2.2.6", source = ${PYPI}, marker = "python_full_version < '3.11'" },
    { name = "numpy", version = "2.4.6", source = ${PYPI}, marker = "python_full_version >= '3.11'" },
]

[package.optional-dependencies]
plot = [{ name = "matplotlib", extra = ["fast"] }]
all = [{ name = "digits", extra = ["plot"] }]

[package.metadata]
requires-dist = [
    { name = "colorama", marker = "sys_platform == 'win32'" },
    { name = "numpy", specifier = ">=1.26,<3" },
    { name = "matplotlib", marker = "extra == 'plot'" },
    { name = "digits", extras = ["plot"], marker = "extra == 'all'" },
]

[[package]]
name = "colorama"
version = "0.4.6"
source = ${PYPI}
wheels = [{ url = "https://files.example/colorama.whl", hash = "sha256:c0" }]

[[package]]
name = "numpy"
version = "2.2.6"
source = ${PYPI}
sdist = { url = "https://files.example/numpy.tar.gz", hash = "sha256:a0" }
wheels = [{ url = "https://files.example/numpy.whl", hash = "sha256:a1" }]

[[package]]
name = "numpy"
version = "2.4.6"
source = ${PYPI}
wheels = [{ url = "https://files.example/numpy.whl", hash = "sha256:b1" }]

[[package]]
name = "matplotlib"
version = "3.11.2"
source = { registry = "https://wheels.example/simple" }
dependencies = [{ name = "colorama", marker = "os_name == 'nt' or sys_platform == 'cygwin'" }, { name = "pillow" }]
wheels = [{ url = "https://files.example/matplotlib.whl", hash = "sha256:d1" }]

[package.optional-dependencies]
fast = [{ name = "pillow", marker = "sys_platform == 'linux'" }]

[[package]]
name = "pillow"
version = "12.0.0"
source = ${PYPI}
wheels = [{ url = "https://files.example/pillow.whl", hash = "sha256:e1" }]
`

describe('a pyproject.toml with a uv.lock', () => {
  test('gives exactly its versions with their hashes, and every way to a package in its marker', async () => {
    await pyproject(PROJECT)
    await lock(LOCK)
    const {requirements, origins, warnings} = await read()
    expect(requirements).toBe(`colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:c0
numpy==2.2.6 ; python_full_version < '3.11' \\
    --hash=sha256:a0 \\
    --hash=sha256:a1
numpy==2.4.6 ; python_full_version >= '3.11' \\
    --hash=sha256:b1
`)
    expect([origins[0], origins[2], warnings]).toEqual(['uv.lock:27', 'uv.lock:33', []])
    expect((await read('pyproject.toml[all]')).requirements.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      '--extra-index-url https://wheels.example/simple',
      String.raw`colorama==0.4.6 ; (sys_platform == 'win32') or (os_name == 'nt' or sys_platform == 'cygwin') ` + '\\',
      String.raw`numpy==2.2.6 ; python_full_version < '3.11' ` + '\\',
      String.raw`numpy==2.4.6 ; python_full_version >= '3.11' ` + '\\',
      'matplotlib==3.11.2 \\',
      'pillow==12.0.0 \\',
    ])
    await expect(
      PROJECT_LOCK.plan([], {folder, workspace: {python: 'pyproject.toml'}} as never, {} as never),
    ).rejects.toMatchObject({code: 'USAGE', hint: 'uv lock'})
  })

  test('that was made for other requirements is refused', async () => {
    await pyproject(PROJECT.replace('<3', '<4'))
    await lock(LOCK)
    const message = 'uv.lock does not belong to pyproject.toml any more: they differ in numpy <4,>=1.26'
    await expect(read()).rejects.toMatchObject({code: 'CHECK_FAILED', message, hint: 'uv lock'})
    expect(await PROJECT_LOCK.stale(folder, 'pyproject.toml')).toEqual({message, fix: 'uv lock'})
    expect((await readSources(folder, 'pyproject.toml')).requirements).toContain('<4')
  })

  test('a package from git is installed from its commit, and then no hashes are compared, which is told', async () => {
    await pyproject(
      '[project]\ndependencies = ["tool"]\n[tool.uv.sources]\ntool = {git = "https://git.example/tool", branch = "main"}\n',
    )
    await lock(`${HEAD}[[package]]
name = "x"
source = { editable = "." }
dependencies = [{ name = "tool" }]
[package.metadata]
requires-dist = [{ name = "tool", git = "https://git.example/tool?branch=main" }]
[[package]]
name = "tool"
version = "2"
source = { git = "https://git.example/tool?branch=main#0123abc" }
dependencies = [{ name = "six" }]
[[package]]
name = "six"
version = "1.16.0"
source = ${PYPI}
wheels = [{ url = "https://files.example/six.whl", hash = "sha256:f0" }]
`)
    expect(await read()).toMatchObject({
      requirements: 'tool @ git+https://git.example/tool@0123abc\nsix==1.16.0\n',
      warnings: [expect.stringContaining('no hashes of tool')],
    })
  })

  test.each([
    ['version = 2\n', 'has version 2'],
    [HEAD, 'does not say which package is the project'],
    [
      `${HEAD}[[package]]\nname = "digits"\nsource = { virtual = "." }\ndependencies = [{ name = "mine" }]\n[package.metadata]\nrequires-dist = [{ name = "mine" }]\n[[package]]\nname = "mine"\nsource = { editable = "../mine" }\n`,
      'mine comes from ../mine, a folder of this machine',
    ],
    [
      `${HEAD}[[package]]\nname = "digits"\nsource = { virtual = "." }\ndependencies = [{ name = "mine", marker = "extra == 'extra-6-digits-cpu'" }]\n[package.metadata]\nrequires-dist = [{ name = "mine" }]\n`,
      'conflicting extras',
    ],
  ])('of another kind is refused, with the reason (%#)', async (text, message) => {
    await pyproject('[project]\ndependencies = ["mine"]\n')
    await lock(text)
    await expect(read()).rejects.toMatchObject({
      code: 'CHECK_FAILED',
      message: expect.stringContaining(message) as string,
    })
  })
})
