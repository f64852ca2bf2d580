/**
 * Whether it is an origin as a browser writes it (RFC 6454, 6.2): scheme, host in small letters, and a port that is not
 * the scheme's own. Pure.
 */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
