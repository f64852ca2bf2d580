/**
 * Files of Debian's packages, for any machine and release of Debian's, without installing them: by this machine's own
 * apt, which checks Debian's signature.
 */
import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {globSync} from 'node:fs'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import type {Machine} from './machines.ts'

export interface Offered {
  package: string
  version: string
  sha256: string
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** The newest versions that a release has now. */
export interface Debian {
  offered: Offered[]
  /** Puts what is in the packages below `folder`. */
  extract(folder: string): Promise<void>
}

/**
 * Asks for packages of the Debian that this machine is, or of another `release`. `folder` is for what apt keeps
 * meanwhile: no root is needed, and nothing of this machine is changed. Throws where this is no Debian, or it does not
 * have them.
 */
export async function askDebian(
  packages: string[],
  machine: Machine,
  folder: string,
  release?: string,
): Promise<Debian> {
  const options = await optionsFor(machine, folder, release)
  apt([...options, 'update'], folder)
  const offered = parseOffer(apt([...options, 'download', '--print-uris', ...packages], folder))
  const missing = packages.filter((name) => !offered.some((one) => one.package === name))
  if (missing.length > 0) throw new Error(`Debian offers no ${missing.join(', ')}`)
  return {
    offered,
    async extract(to) {
      apt([...options, 'download', ...packages], folder)
      for (const file of globSync('*.deb', {cwd: folder})) {
        const sha256 = createHash('sha256')
          .update(await readFile(join(folder, file)))
          .digest('hex')
        if (!offered.some((one) => one.sha256 === sha256)) throw new Error(`${basename(file)} is not what was offered`)
        await mkdir(to, {recursive: true})
        execFileSync('dpkg-deb', ['--extract', join(folder, file), to], {stdio: ['ignore', 2, 2]})
      }
    },
  }
}

async function optionsFor(machine: Machine, folder: string, release: string | undefined): Promise<string[]> {
  for (const name of ['lists/partial', 'cache/archives/partial'])
    await mkdir(join(folder, 'apt', name), {recursive: true})
  await writeFile(join(folder, 'apt/status'), '')
  const settings: Record<string, string> = {
    'APT::Architecture': machine.debian,
    'APT::Architectures': machine.debian,
    'Dir::State::Lists': join(folder, 'apt/lists'),
    'Dir::State::status': join(folder, 'apt/status'),
    'Dir::Cache': join(folder, 'apt/cache'),
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': '',
    'Debug::NoLocking': '1',
  }
  if (release) {
    await writeFile(join(folder, 'apt/sources'), `deb [signed-by=${KEYRING}] ${await mirror(folder)} ${release} main\n`)
    Object.assign(settings, {'Dir::Etc::SourceList': join(folder, 'apt/sources'), 'Dir::Etc::SourceParts': '-'})
  }
  return ['-q', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
}

/** Where this machine has its own release from. */
async function mirror(folder: string): Promise<string> {
  const own = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1]
  const lines = apt(
    ['indextargets', '--format', '$(RELEASE) $(COMPONENT) $(REPO_URI)', 'Created-By: Packages'],
    folder,
  ).split('\n')
  const found = lines
    .map((line) => line.split(' '))
    .find(([release, component]) => release === own && component === 'main')?.[2]
  if (!found) throw new Error('the packages of this machine are not from a mirror of Debian')
  return found
}

function apt(words: string[], folder: string): string {
  try {
    return execFileSync('apt-get', words, {
      cwd: folder,
      encoding: 'utf8',
      env: {...process.env, LC_ALL: 'C'},
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const {code, stderr} = error as NodeJS.ErrnoException & {stderr?: string}
    throw new Error(
      code === 'ENOENT'
        ? 'packages of Debian are needed: run this on Debian 12'
        : `apt-get ${words.at(-1)} failed: ${stderr?.trim()}`,
    )
  }
}

/** Lines of `apt-get download --print-uris`: 'address' file size SHA256:hash. Pure. */
export function parseOffer(text: string): Offered[] {
  const found = [...text.matchAll(/^'[^']+' ([^_\s]+)_([^_\s]+)_\w+\.deb \d+ SHA256:([0-9a-f]{64})$/gm)]
  return found
    .map(([, name = '', version = '', sha256 = '']) => ({package: name, version: decodeURIComponent(version), sha256}))
    .sort((a, b) => (a.package < b.package ? -1 : 1))
}
