/** What is asked for of a device: bytes, or a part of its memory and time (above 0, up to 1); neither: all of it. */
export interface ShareWish {
  memory?: number
  fraction?: number
}

/** What a wish takes of a device: bytes, and a share (0..1) of its time. Pure. */
export function shareOf(
  device: {memory: number},
  {memory, fraction}: ShareWish,
): {memory: number; compute: number; whole: boolean} {
  if (fraction !== undefined)
    return {memory: Math.floor(device.memory * fraction), compute: fraction, whole: fraction === 1}
  if (memory !== undefined)
    return {memory, compute: Math.max(0.001, Math.floor((memory / device.memory) * 1000) / 1000), whole: false}
  return {memory: device.memory, compute: 1, whole: true}
}
