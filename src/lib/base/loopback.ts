/** Whether a host's name or address is this machine's own, as it stands in settings: IPv6 without brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
