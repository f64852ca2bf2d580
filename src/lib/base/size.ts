const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gib: 1024 ** 3,
  t: 1024 ** 4,
  tib: 1024 ** 4,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  tb: 1000 ** 4,
}

/** Bytes of `2GiB`, `1.5 GiB`, `512M` (powers of 1024), `2GB` (of 1000); undefined where it is no size. */
export function parseSize(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text)
  const unit = UNITS[found?.[2]?.toLowerCase() ?? '-']
  if (!found || unit === undefined) return undefined
  const bytes = Math.round(Number(found[1]) * unit)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}

/** Bytes for people, in powers of 1024: `812 B`, `4.0 KiB`, `1.2 GiB`. */
export function sizeText(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10))
  return power === 0 ? `${Math.round(count)} B` : `${(count / 1024 ** power).toFixed(1)} ${units[power]}`
}
