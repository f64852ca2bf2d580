/** Whether a host's name or address is this machine's own, as it stands in settings: IPv6 without brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** Whether a URL leads to this machine itself. Throws where it is none. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''))
}
