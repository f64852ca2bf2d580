import {shownPath} from '../terminal/path.ts'
import type {Scaffolded} from '../../lib/project/index.ts'

/** What was written, and what to type next. */
export function initText({folder, name, template, files}: Scaffolded): string {
  const here = shownPath(folder)
  const enter = here === '.' ? [] : [`cd ${/^[\w./-]+$/.test(here) ? here : `'${here.replaceAll("'", "'\\''")}'`}`]
  const next: Record<string, string[]> = {
    'pytorch-ddp': [
      'flexrack local up --nodes 3',
      'flexrack head start',
      'flexrack train',
      `flexrack model register ${name} --alias production`,
      `flexrack endpoint deploy ${name}`,
    ],
    'pytorch-bench': [
      'flexrack local up --nodes 2',
      'flexrack train --no-tracking',
      'python3 scaling.py 1 2 --no-tracking',
    ],
    'pytorch-compile': [
      'flexrack local up --gpu sim --sim-profile blackwell',
      'flexrack train --no-tracking',
      'pip install -r requirements.txt && flexrack attach -- python train.py',
    ],
    plain: ['flexrack local up', 'flexrack train --no-tracking'],
  }
  const commands = [...enter, ...(next[template] ?? ['flexrack check', 'flexrack train'])]
  return [
    `Project ${name} is in ${here === '.' ? 'this folder' : here}:`,
    ...files.map((file) => `  ${file}`),
    '',
    'Next:',
    ...commands.map((command) => `  ${command}`),
  ].join('\n')
}
