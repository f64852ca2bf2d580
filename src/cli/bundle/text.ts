import {count, sizeText} from '../../lib/base/index.ts'
import type {AppliedBundle, MadeBundle} from '../../lib/bundle/index.ts'
import {table} from '../terminal/render.ts'

export function madeText({file, bytes: size, files, sha256, contents}: MadeBundle): string {
  return `${contentsText(contents)}\n\n${file} has ${count(files, 'file')}, ${sizeText(size)}.\nsha256 ${sha256}\nOn the machine that the rack is used from: flexrack bundle apply FILE`
}

export function appliedText({file, contents, placed, there, folder, program}: AppliedBundle): string {
  const lines = [
    `${file} is whole: ${count(placed, 'file')} put into ${folder}${there > 0 ? `, ${there} were there already` : ''}.`,
    'Nodes with `network: bundle` in the rack file get their packages from there.',
  ]
  if (program !== null) lines.push(`flexrack itself, for other machines: npm install -g --offline ${program}`)
  return `${contentsText(contents)}\n\n${lines.join('\n')}`
}

function contentsText(contents: MadeBundle['contents']): string {
  return table(
    contents.map(({name, machine, python}) => ({for: name, machine: machine ?? ' ', python: python ?? ' '})),
    ['for', 'machine', 'python'],
  )
}
