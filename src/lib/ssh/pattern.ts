/** OpenSSH's pattern lists (ssh_config(5), PATTERNS): `*` any text, `?` one character; one negated match refuses whatever else matches. */
export function matchesPattern(patterns: string[], text: string): boolean {
  let matched = false
  for (const pattern of patterns) {
    const negated = pattern.startsWith('!')
    if (!toRegExp(negated ? pattern.slice(1) : pattern).test(text)) continue
    if (negated) return false
    matched = true
  }
  return matched
}

function toRegExp(pattern: string): RegExp {
  const escaped = pattern.replace(/[\\^$.+()[\]{}|]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
}
