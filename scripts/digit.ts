/** Reading and drawing the quickstart's test digits. */

/**
 * A little-endian float32, C-order .npy file (format versions 1 to 3).
 * Source: NumPy, "A simple file format for NumPy arrays" (NEP 1).
 */
export function readNpy(file: Buffer): {shape: number[]; data: Float32Array} {
  if (file.subarray(0, 6).toString('latin1') !== '\u0093NUMPY') throw new Error('not an .npy file')
  const wide = (file[6] ?? 1) > 1
  const start = wide ? 12 : 10
  const length = wide ? file.readUInt32LE(8) : file.readUInt16LE(8)
  const header = file.subarray(start, start + length).toString('latin1')
  if (!header.includes("'<f4'") || !header.includes("'fortran_order': False"))
    throw new Error(`expected float32 in C order, found ${header.trim()}`)
  const shape = [...(/'shape': \(([^)]*)\)/.exec(header)?.[1] ?? '').matchAll(/\d+/g)].map((match) => Number(match[0]))
  const bytes = file.subarray(start + length)
  const data = new Float32Array(bytes.length / 4)
  for (let index = 0; index < data.length; index++) data[index] = bytes.readFloatLE(index * 4)
  return {shape, data}
}

/** A picture of one digit: pixels 0..1, `width` a row, two characters a pixel. */
export function drawDigit(pixels: Float32Array, width: number): string {
  const shades = [' ', '░', '▒', '▓', '█']
  const rows: string[] = []
  for (let row = 0; row * width < pixels.length; row++) {
    rows.push(
      [...pixels.subarray(row * width, (row + 1) * width)]
        .map((pixel) => (shades[Math.min(4, Math.floor(pixel * 5))] ?? ' ').repeat(2))
        .join(''),
    )
  }
  return rows.map((row) => `  ${row}`).join('\n')
}
