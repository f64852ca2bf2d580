import {globSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'

interface Package {
  name: string
  version: string
  license?: string
}

/** What the licences of bundled npm packages ask for: each package's notices. `modules`: the files in the bundles. */
export async function licencesOf(modules: string[]): Promise<string> {
  const folders = new Set(
    modules.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []),
  )
  const texts = await Promise.all(
    [...folders].sort().map(async (folder) => {
      const {name, version, license} = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Package
      const files = globSync('{LICEN[CS]E,licen[cs]e,COPYING,NOTICE}*', {cwd: folder}).sort()
      const notices = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
      return [`${name} ${version}: ${license ?? 'see below'}`, ...notices.map((text) => text.trim())].join('\n\n')
    }),
  )
  return `The files beside this one have in them these npm packages.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
