/**
 * OpenSSH's pattern lists (ssh_config(5), PATTERNS): `*` any text, `?` one character; one negated match refuses
 * whatever else matches.
 */
export function matchesPattern(patterns: string[], text: string): boolean {
  let matched = false
  for (const pattern of patterns) {
    const negated = pattern.startsWith('!')
    if (!matchesOne(negated ? pattern.slice(1) : pattern, text)) continue
    if (negated) return false
    matched = true
  }
  return matched
}

/**
 * Goes back to the last star only, which is enough: a regular expression of many stars would try all that they could
 * stand for together.
 */
function matchesOne(pattern: string, text: string): boolean {
  let [at, place, star, from] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[place] === '*') {
      star = place++
      from = at
    } else if (place < pattern.length && (pattern[place] === '?' || pattern[place] === text[at])) {
      place++
      at++
    } else if (star >= 0) {
      place = star + 1
      at = ++from
    } else return false
  }
  while (pattern[place] === '*') place++
  return place === pattern.length
}
