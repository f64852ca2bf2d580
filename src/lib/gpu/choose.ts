import {shareOf} from '../placement/index.ts'
import type {Choice, GpuDevice, GpuRequest} from './types.ts'

/**
 * The devices for a request: all of them or undefined. On one node where one has enough, else on as few as possible;
 * of several possibilities the one with the most free memory; of equals the first. In the order of `devices`. Pure.
 */
export function chooseDevices(devices: readonly GpuDevice[], request: GpuRequest): Choice[] | undefined {
  if (request.mirror) return choosePair(devices, request)
  const fitting = Map.groupBy(
    devices.filter((device) => fits(device, request)),
    (device) => device.node,
  )
  const nodes = [...fitting].map(([node, own]) => {
    const best = own.toSorted(
      (one, other) =>
        freeShare(other) - freeShare(one) || other.free.memory - one.free.memory || one.index - other.index,
    )
    const taken = best.slice(0, request.count)
    return {node, taken, freest: taken.reduce((sum, device) => sum + freeShare(device), 0)}
  })
  const ordered = nodes.toSorted((one, other) => other.taken.length - one.taken.length || other.freest - one.freest)
  const chosen = new Set<GpuDevice>()
  for (const {taken} of ordered) for (const device of taken) if (chosen.size < request.count) chosen.add(device)
  if (chosen.size < request.count) return undefined
  const inOrder = Map.groupBy(
    devices.filter((device) => chosen.has(device)),
    (device) => device.node,
  )
  return [...inOrder].map(([node, own]) => ({
    node,
    devices: own.map((device) => ({
      id: device.id,
      index: device.index,
      name: device.name,
      memory: shareOf(device, request).memory,
    })),
  }))
}

/**
 * Two devices of different nodes that are alike, for programs that both carry out: the pair whose fuller one is the
 * freest. In the order of `devices`. Pure.
 */
function choosePair(devices: readonly GpuDevice[], request: GpuRequest): Choice[] | undefined {
  const fitting = devices.filter((device) => fits(device, request))
  const pairs = fitting.flatMap((one, at) =>
    fitting
      .slice(at + 1)
      .filter((other) => other.node !== one.node && areAlike(one, other))
      .map((other) => [one, other] as const),
  )
  const least = (pair: readonly GpuDevice[]): number => Math.min(...pair.map(freeShare))
  const best = pairs.toSorted((one, other) => least(other) - least(one))[0]
  return best?.map((device) => ({
    node: device.node,
    devices: [{id: device.id, index: device.index, name: device.name, memory: shareOf(device, request).memory}],
  }))
}

/** As far as nodes tell of them: what is left is compared when a program begins. */
export function areAlike(one: GpuDevice, other: GpuDevice): boolean {
  return (
    one.api === other.api &&
    one.name === other.name &&
    one.capability === other.capability &&
    one.driver === other.driver &&
    one.memory === other.memory
  )
}

/** Whether a share of this size is free on the device. */
export function fits(device: GpuDevice, request: GpuRequest): boolean {
  return hasRoom(device, shareOf(device, request))
}

/** The same of a share that is known. */
export function hasRoom(device: GpuDevice, share: {memory: number; compute: number; whole: boolean}): boolean {
  if (device.whole) return false
  if (share.whole) return device.holders.length === 0
  return share.memory <= device.free.memory && share.compute <= device.free.compute + 1e-9
}

function freeShare(device: GpuDevice): number {
  return device.memory === 0 ? 0 : device.free.memory / device.memory
}
