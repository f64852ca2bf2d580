/** What is linked into the binaries beside our own code: static libraries of Debian's packages. */
import {existsSync, globSync} from 'node:fs'
import {cp, mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {askDebian, type Offered} from './debian.ts'
import type {Machine} from './machines.ts'

const PACKAGES = ['libssl-dev', 'libzstd-dev', 'liblz4-dev']
const LIBRARIES = ['libssl.a', 'libcrypto.a', 'libzstd.a', 'liblz4.a']

/**
 * Puts include, lib and licences into `folder`, where they are not those of the newest packages already, and says which
 * these are. Throws as askDebian.
 */
export async function bringLibraries(machine: Machine, folder: string): Promise<Offered[]> {
  const list = join(folder, 'libraries.json')
  const draft = await mkdtemp(join(folder, '.libraries-'))
  try {
    const {offered, extract} = await askDebian(PACKAGES, machine, draft)
    const text = `${JSON.stringify(offered, null, 2)}\n`
    if (existsSync(list) && (await readFile(list, 'utf8')) === text) return offered
    await rm(list, {force: true})
    await extract(join(draft, 'root'))
    await layOut(join(draft, 'root'), join(draft, 'made'))
    for (const part of ['include', 'lib', 'licences']) {
      await rm(join(folder, part), {recursive: true, force: true})
      await rename(join(draft, 'made', part), join(folder, part))
    }
    await writeFile(list, text) // last: what was broken off is made anew
    return offered
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

/** OpenSSL has headers for one machine beside those for all. */
async function layOut(root: string, made: string): Promise<void> {
  await cp(join(root, 'usr/include'), join(made, 'include'), {recursive: true})
  for (const folder of globSync('usr/include/*-linux-gnu', {cwd: root})) {
    await cp(join(root, folder), join(made, 'include'), {recursive: true})
    await rm(join(made, 'include', basename(folder)), {recursive: true})
  }
  for (const name of LIBRARIES) {
    const [file] = globSync(`usr/lib/*-linux-gnu/${name}`, {cwd: root})
    if (!file) throw new Error(`Debian's packages have no ${name}`)
    await cp(join(root, file), join(made, 'lib', name))
  }
  for (const name of PACKAGES) await cp(join(root, 'usr/share/doc', name, 'copyright'), join(made, 'licences', name))
}
