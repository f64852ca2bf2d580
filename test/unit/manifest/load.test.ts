import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {CliError} from '../../../src/lib/base/index.ts'
import {findManifest, loadManifest, type Problem} from '../../../src/lib/manifest/index.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-manifest-'))
  await writeFile(join(folder, 'requirements.txt'), 'numpy==2.4.6\n')
})
afterEach(() => rm(folder, {recursive: true, force: true}))

async function load(text: string) {
  await writeFile(join(folder, 'flexrack.yaml'), text)
  return loadManifest(folder)
}

async function problemsOf(text: string): Promise<string[]> {
  const error = await load(text).then(
    () => expect.unreachable('the manifest was taken'),
    (caught: CliError) => caught,
  )
  expect(error).toMatchObject({code: 'MANIFEST_INVALID', exitCode: 3})
  const problems = error.details.problems as Problem[]
  for (const problem of problems)
    expect(problem).toMatchObject({file: join(folder, 'flexrack.yaml'), excerpt: expect.any(String)})
  return problems.map(({line, column, message}) => `${line}:${column} ${message}`)
}

describe('a valid manifest', () => {
  it('needs no more than a name; the rest has defaults', async () => {
    expect(await load('name: digits\n')).toEqual({
      path: join(folder, 'flexrack.yaml'),
      folder,
      name: 'digits',
      workspace: {exclude: [], forward: [], env: {}},
      tracking: {experiment: 'digits'},
      endpoints: {},
    })
  })

  it('is read with every key', async () => {
    const manifest = await load(`
name: digits
rack: ./racks/lab.yaml
workspace:
  python: ./requirements.txt
  sync: {exclude: [data/, "*.pt"]}
  forward: [8888]
  env: {THREADS: 04, FLAG: true, TEXT: a b}
train:
  command: train.py --note 'two words'
  launcher: torchrun
  nodes: 2
  processes_per_node: 2
  restarts: 1
  outputs: [model.onnx, ./checkpoints/]
  env: {LR: 1e-3}
  grace: 2m
  hang: {after: 90s, action: restart}
  watch: false
tracking: {uri: "https://mlflow.example.org/", experiment: 2048}
endpoints:
  digits: {model: digits@production, replicas: 2}
`)
    expect(manifest).toMatchObject({
      rack: join(folder, 'racks/lab.yaml'),
      workspace: {
        python: 'requirements.txt',
        exclude: ['data/', '*.pt'],
        forward: [8888],
        env: {THREADS: '04', FLAG: 'true', TEXT: 'a b'},
      },
      train: {
        command: ['train.py', '--note', 'two words'],
        launcher: 'torchrun',
        nodes: 2,
        processesPerNode: 2,
        restarts: 1,
        outputs: ['model.onnx', 'checkpoints/'],
        env: {LR: '1e-3'},
        grace: 120,
        hang: {after: 90, action: 'restart'},
        watch: false,
      },
      tracking: {uri: 'https://mlflow.example.org', experiment: '2048'},
      endpoints: {digits: {model: 'digits@production', replicas: 2}},
    })
  })

  it('may give the command as a list, numbers included, and share parts with anchors', async () => {
    const manifest = await load(
      'name: x\nworkspace: {env: &shared {A: 1}}\ntrain: {command: [-m, digits.train, --epochs, 010], env: *shared}\n',
    )
    expect(manifest.train).toMatchObject({command: ['-m', 'digits.train', '--epochs', '010'], env: {A: '1'}})
  })

  it('is found in the folders above', async () => {
    await load('name: digits\n')
    const inner = join(folder, 'a', 'b')
    await mkdir(inner, {recursive: true})
    expect(findManifest(inner)).toBe(join(folder, 'flexrack.yaml'))
    expect((await loadManifest(inner)).folder).toBe(folder)
  })
})

describe('a manifest that is not there', () => {
  it('is MANIFEST_MISSING with the way out', async () => {
    await expect(loadManifest(folder)).rejects.toMatchObject({code: 'MANIFEST_MISSING', hint: 'flexrack init'})
    await expect(loadManifest(join(folder, 'nowhere'))).rejects.toMatchObject({
      code: 'MANIFEST_MISSING',
      message: expect.stringContaining('does not exist'),
    })
    await writeFile(join(folder, 'flexrack.yml'), 'name: x\n')
    await expect(loadManifest(folder)).rejects.toMatchObject({
      hint: expect.stringMatching(/^mv .*flexrack.yml .*flexrack.yaml$/),
    })
  })
})

describe('a wrong manifest', () => {
  it('is told all that is wrong at once, in the order of the file, with the nearest names', async () => {
    const problems = await problemsOf(`nam: digits
name: Digits
name: x
workspace:
  pyhton: requirements.txt
  forward: [0, 70000, a]
  env: {1A: 3, RANK: 4, OK: }
train:
  comand: train.py
  launcher: torchrn
  nodes: two
  restarts: -1
  grace: 5 days
  hang: {after: 200ms, action: kill}
  outputs: 4
tracking: {uri: "ftp://x", experiment: ''}
endpoints:
  d: {modle: x}
  E: {model: x@}
`)
    expect(problems).toEqual([
      '1:1 unknown key "nam"; did you mean "name"?',
      '2:7 name must be 1 to 40 lower-case letters, digits, dots, dashes or underscores, and begin and end with a letter or digit',
      '3:1 the key "name" is given twice',
      '5:3 unknown key "pyhton" in workspace; did you mean "python"?',
      '6:13 workspace.forward[0] must be a whole number from 1 to 65535, not 0',
      '6:16 workspace.forward[1] must be a whole number from 1 to 65535, not 70000',
      '6:23 workspace.forward[2] must be a whole number from 1 to 65535, not the text "a"',
      '7:9 the name "1A" must be letters, digits and underscores, and not begin with a digit',
      '7:16 the name "RANK" is set by flexrack itself',
      '7:29 workspace.env.OK must be text, not empty',
      '8:1 the key "command" is missing in train; expected text or a list of text',
      '9:3 unknown key "comand" in train; did you mean "command"?',
      '10:13 train.launcher must be one of torchrun, accelerate, deepspeed, ray, mpi, plain, not the text "torchrn"; did you mean "torchrun"?',
      '11:10 train.nodes must be a number, or a range such as 2..8',
      '12:13 train.restarts must be a whole number from 0 to 100, not -1',
      '13:10 train.grace must be a duration up to an hour, such as 10s, 2m or 500ms',
      '14:17 train.hang.after must be a duration from 1s to an hour, such as 90s or 10m',
      '14:32 train.hang.action must be one of report, restart, stop, not the text "kill"',
      '15:12 train.outputs must be a list of text, not 4',
      '16:17 tracking.uri must be the URL of an MLflow server, http:// or https://, without user name and password in it',
      '16:40 tracking.experiment must be text of 1 to 250 characters, not empty text',
      '18:3 the key "model" is missing in endpoints.d; expected text',
      '18:7 unknown key "modle" in endpoints.d; did you mean "model"?',
      '19:3 the name "E" must be 1 to 40 lower-case letters, digits, dots, dashes or underscores, and begin and end with a letter or digit',
    ])
  })

  it('is told what GPUs cannot be', async () => {
    expect(await problemsOf('name: x\ngpus: {count: 0, memory: much, fraction: 2}\n')).toEqual([
      '2:7 gpus has both memory and fraction; one of them',
      '2:15 gpus.count must be a whole number from 1 to 64, not 0',
      '2:26 gpus.memory must be a size such as 8GiB or 512MiB',
      '2:42 gpus.fraction must be a number from 0.001 to 1, not 2',
    ])
    expect(await problemsOf('name: x\ngpus: {memory: 8GiB, fraction: 0.5}\n')).toEqual([
      '2:7 gpus has both memory and fraction; one of them',
    ])
    expect(await problemsOf('name: x\ngpus: {cap: true}\n')).toEqual([
      '2:7 gpus has cap for whole devices; it limits a share (memory or fraction)',
    ])
    expect(await problemsOf('name: x\ngpus: {api: vulkan}\n')).toEqual([
      '2:13 gpus.api must be one of cuda, opencl, not the text "vulkan"',
    ])
    expect((await load('name: x\ngpus: {api: cuda}\n')).gpus).toEqual({count: 1, cap: false, api: 'cuda'})
  })

  it('takes an image and a sandbox, whose sizes become bytes', async () => {
    expect(
      (await load('name: x\nworkspace: {image: a/b:1, isolate: {network: none, memory: 2GiB, pids: 64}}\n')).workspace,
    ).toMatchObject({image: 'a/b:1', isolate: {network: 'none', memory: 2 * 1024 ** 3, pids: 64}})
    expect((await load('name: x\nworkspace: {isolate: true}\n')).workspace.isolate).toEqual({network: 'host'})
    expect((await load('name: x\nworkspace: {isolate: false}\n')).workspace.isolate).toBeUndefined()
    expect(await problemsOf('name: x\nworkspace: {image: "a b", isolate: {network: lan}}\n')).toEqual([
      '2:20 workspace.image must be one word',
      '2:46 workspace.isolate.network must be one of none, host, not the text "lan"',
    ])
  })

  it('is told of paths that leave the folder, and of a missing file in another section, although a key is wrong too', async () => {
    expect(
      await problemsOf(
        'nme: x\nworkspace: {python: requirments.txt}\ntrain: {command: a.py, outputs: [/a, ../b, a, ./a, .], launcher: plain, processes_per_node: 2}\n',
      ),
    ).toEqual([
      '1:1 the key "name" is missing; expected text',
      '1:1 unknown key "nme"; did you mean "name"?',
      '2:21 workspace.python: there is no file requirments.txt in the project folder; did you mean "requirements.txt"?',
      '3:34 train.outputs[0] must be relative to the project folder, not /a',
      '3:38 train.outputs[1] leaves the project folder: ../b',
      '3:47 train.outputs has a twice',
      '3:52 train.outputs[4] must name something inside the project folder, not the folder itself',
      '3:93 train.processes_per_node must be 1 with the launcher plain, which starts one process a node',
    ])
  })

  it('is told of a requirements file that is a folder, or a link out of the project', async () => {
    await mkdir(join(folder, 'reqs'))
    expect(await problemsOf('name: x\nworkspace: {python: reqs}\n')).toEqual([
      '2:21 workspace.python: reqs is not a file',
    ])
    expect(await problemsOf('name: x\nworkspace: {python: {version: "3.12", requirements: reqs}}\n')).toEqual([
      '2:53 workspace.python: reqs is not a file',
    ])
    await symlink('/etc/passwd', join(folder, 'link.txt'))
    expect(await problemsOf('name: x\nworkspace: {python: link.txt}\n')).toEqual([
      '2:21 workspace.python: link.txt is a link that leaves the project folder',
    ])
    expect(await problemsOf('name: x\nworkspace: {python: ../requirements.txt}\n')).toEqual([
      '2:21 workspace.python leaves the project folder: ../requirements.txt',
    ])
  })

  it('has a server of its own only with a command, and a recipe says the rest of its server', async () => {
    const {endpoints} = await load(
      'name: x\nendpoints: {e: {model: x, command: "serve --port {port}", protocol: openai}}\n',
    )
    expect(endpoints.e).toEqual({
      model: 'x',
      replicas: 1,
      runtime: 'custom',
      server: {command: ['serve', '--port', '{port}'], protocol: 'openai', ready: {path: '/health', seconds: 120}},
    })
    expect(
      await problemsOf(
        'name: x\nendpoints:\n  a: {model: x, runtime: custom}\n  b: {model: x, runtime: onnx, command: serve}\n' +
          '  c: {model: x, command: "serve > log"}\n  d: {model: x, ready: {path: /health}}\n',
      ),
    ).toEqual([
      '3:26 endpoints.a.runtime custom needs a command',
      '4:41 endpoints.b.command goes with the runtime custom, and not with onnx',
      expect.stringContaining('5:26 endpoints.c.command has ">" outside quotes') as string,
      '6:24 endpoints.d.ready goes with a command: a recipe says it of its server',
    ])
  })

  it('is told of a command that cannot be read', async () => {
    expect(await problemsOf('name: x\ntrain: {command: "train.py \'a"}\n')).toEqual([
      "2:18 train.command has a quote ' that is not closed",
    ])
    expect(await problemsOf('name: x\ntrain: {command: ""}\n')).toEqual(['2:18 train.command must not be empty'])
    expect(await problemsOf('name: x\nendpoints: {e: {model: x@}}\n')).toEqual([
      '2:24 endpoints.e.model must be a model: name@alias, name/version, or name for the newest version',
    ])
    expect(await problemsOf('name: x\ntrain: {command: [a, {b: 1}]}\n')).toEqual([
      '2:22 train.command[1] must be text, not keys and values',
    ])
  })

  it('names the one problem in the message itself', async () => {
    await expect(load('name: x\nrak: y\n')).rejects.toThrow(
      'flexrack.yaml:2:1: unknown key "rak"; did you mean "rack"?',
    )
    await expect(load('')).rejects.toThrow('flexrack.yaml:1:1: the key "name" is missing; expected text')
    await expect(load('- a\n')).rejects.toThrow('flexrack.yaml:1:1: the file must be keys and values, not a list')
  })
})
