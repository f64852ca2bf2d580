/** Flags that people also write short. */
const SHORT: Record<string, string> = {
  '--rack': '-r',
  '--project': '-C',
  '--nodes': '-n',
  '--processes-per-node': '-p',
  '--yes': '-y',
  '--model': '-m',
  '--template': '-t',
}

/** Commands that take --rack and --project. */
const PLACED = /^flexrack (attach|check|endpoint|gpu|head|model|runs|status|sweep|train|workspace)\b(?!.*--help)/

/**
 * A hint that is a flag alone (`--on node-2`, `--yes`), as the whole command line to paste: what was typed, with that
 * flag in place of the same one, or of `wrong`. A command gets the rack and the project that were typed, so that it
 * means the same ones. Other hints as they are.
 */
export function completeHint(hint: string, argv: readonly string[], wrong?: unknown): string {
  const [, flag, value] = /^(--[a-z][a-z-]*)(?: (.+))?$/.exec(hint) ?? []
  if (argv.length === 0) return hint
  if (flag === undefined)
    return hint
      .split('\n')
      .map((line) => (PLACED.test(line) ? atSamePlace(line, argv) : line))
      .join('\n')
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const rest = end === -1 ? [] : argv.slice(end)
  if (typeof wrong === 'string')
    return commandLine([
      ...own.map((word) => (word === wrong || word.startsWith(`${wrong}=`) ? flag + word.slice(wrong.length) : word)),
      ...rest,
    ])
  const kept = own.filter((word, index) => {
    if ([flag, SHORT[flag]].includes(word) || word.startsWith(`${flag}=`)) return false
    return !(value !== undefined && index > 0 && [flag, SHORT[flag]].includes(own[index - 1]))
  })
  return `${commandLine(kept)} ${hint}${rest.length > 0 ? ` ${quoted(rest)}` : ''}`
}

function atSamePlace(line: string, argv: readonly string[]): string {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const missing = ['--rack', '--project']
    .filter((flag) => !line.split(' ').includes(flag))
    .flatMap((flag) => {
      const at = own.findLastIndex((word) => word === flag || word === SHORT[flag] || word.startsWith(`${flag}=`))
      const value = own[at]?.startsWith(`${flag}=`) ? own[at].slice(flag.length + 1) : own[at + 1]
      return at === -1 || value === undefined ? [] : [flag, value]
    })
  return missing.length === 0 ? line : `${line} ${quoted(missing)}`
}

function commandLine(words: readonly string[]): string {
  return `flexrack ${quoted(words)}`
}

/** Words as a POSIX shell takes them. */
function quoted(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}
