/** Flags that people also write short. */
const SHORT: Record<string, string> = {'--rack': '-r', '--project': '-C', '--nodes': '-n', '--processes-per-node': '-p', '--yes': '-y', '--model': '-m', '--template': '-t'}

/**
 * A hint that is a flag alone (`--on node-2`, `--yes`), as the whole command line to paste: what was typed, with that flag
 * in place of the same one, or of `wrong`. Other hints as they are.
 */
export function completeHint(hint: string, argv: readonly string[], wrong?: unknown): string {
  const [, flag, value] = /^(--[a-z][a-z-]*)(?: (.+))?$/.exec(hint) ?? []
  if (flag === undefined || argv.length === 0) return hint
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const rest = end === -1 ? [] : argv.slice(end)
  if (typeof wrong === 'string') return commandLine([...own.map((word) => (word === wrong || word.startsWith(`${wrong}=`) ? flag + word.slice(wrong.length) : word)), ...rest])
  const kept = own.filter((word, index) => {
    if ([flag, SHORT[flag]].includes(word) || word.startsWith(`${flag}=`)) return false
    return !(value !== undefined && index > 0 && [flag, SHORT[flag]].includes(own[index - 1]))
  })
  return `${commandLine(kept)} ${hint}${rest.length > 0 ? ` ${quoted(rest)}` : ''}`
}

function commandLine(words: readonly string[]): string {
  return `flexrack ${quoted(words)}`
}

/** Words as a POSIX shell takes them. */
function quoted(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}
