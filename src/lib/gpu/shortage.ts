import {CliError, type CliErrorOptions} from '../base/index.ts'
import {shareOf} from '../placement/index.ts'
import {areAlike} from './choose.ts'
import type {Api} from '../protocol/index.ts'
import type {GpuDevice, GpuRequest} from './types.ts'

const API_NAMES: Readonly<Record<Api, string>> = {cuda: 'CUDA', opencl: 'OpenCL'}

/**
 * GPU_UNAVAILABLE, and what helps: to wait for others, to look once more because somebody was quicker, or nothing but
 * another request or rack.
 */
export class GpuShortage extends CliError {
  readonly helps: 'waiting' | 'looking again' | 'nothing'

  constructor(helps: GpuShortage['helps'], message: string, options: CliErrorOptions) {
    super('GPU_UNAVAILABLE', message, options)
    this.helps = helps
  }
}

/**
 * Why a request cannot be met now, or ever: what is free, and who has the rest. `api`: what the devices are of, where
 * there are some of any API. Pure.
 */
export function shortage(
  devices: readonly GpuDevice[],
  request: GpuRequest,
  free: readonly GpuDevice[],
  where: string,
  api?: Api,
): GpuShortage {
  const wanted = requestText(request)
  if (devices.length === 0 && api)
    return new GpuShortage('nothing', `${where} serves no GPU through ${API_NAMES[api]}`, {hint: 'flexrack gpu list'})
  if (devices.length === 0) return new GpuShortage('nothing', `${where} serves no GPU`, {hint: 'flexrack gpu serve'})
  const could = devices.filter((device) => shareOf(device, request).memory <= device.memory)
  const lines = devices.map(deviceLine)
  if (request.mirror) {
    const isPossible = could.some((one) => could.some((other) => other.node !== one.node && areAlike(one, other)))
    return new GpuShortage(
      isPossible ? 'waiting' : 'nothing',
      `${wanted} are asked for, but ${isPossible ? 'they are not free' : `no two nodes of ${where} have GPUs of one model, memory size and driver`}`,
      {hint: isPossible ? '--wait' : 'flexrack gpu list', details: {lines, devices}},
    )
  }
  if (could.length < request.count) {
    const has =
      could.length === 0
        ? 'no GPU is that large'
        : `${where} has ${could.length === devices.length ? '' : 'only '}${could.length}${could.length === devices.length ? '' : ' that large'}`
    return new GpuShortage('nothing', `${wanted} ${request.count === 1 ? 'is' : 'are'} asked for, but ${has}`, {
      hint: 'flexrack gpu list',
      details: {lines, devices},
    })
  }
  const now = free.length === 0 ? 'none is free' : `only ${free.length} ${free.length === 1 ? 'is' : 'are'} free`
  return new GpuShortage('waiting', `${wanted} ${request.count === 1 ? 'is' : 'are'} asked for, but ${now}`, {
    hint: '--wait',
    details: {lines, devices},
  })
}

/** `2 whole GPUs`, `1 GPU with 2.0 GiB`, `3 quarters`... as people say it. */
export function requestText({mirror, ...request}: GpuRequest): string {
  if (mirror) return `${requestText({...request, count: 2})} of two nodes that do the same`
  const {count, memory, fraction} = request
  const noun = count === 1 ? 'GPU' : 'GPUs'
  if (fraction !== undefined && fraction < 1) return `${percent(fraction)} of ${count} ${noun}`
  if (memory !== undefined) return `${gibibytes(memory)} on ${count} ${noun}`
  return `${count} whole ${noun}`
}

function deviceLine(device: GpuDevice): string {
  const place = `${device.node} ${device.index}: ${device.name}`
  const holders = device.holders.map(
    (one) =>
      `${one.owner}${one.purpose ? ` (${one.purpose})` : ''} has ${one.whole ? 'all of it' : `${gibibytes(one.memory)} and ${percent(one.compute)}`}`,
  )
  const free = device.whole
    ? 'nothing free'
    : `${gibibytes(device.free.memory)} of ${gibibytes(device.memory)} and ${percent(device.free.compute)} of the time free`
  return [`${place}, ${free}`, ...holders].join('; ')
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}

function gibibytes(bytes: number): string {
  return bytes >= 1024 ** 3
    ? `${(bytes / 1024 ** 3).toFixed(1)} GiB`
    : `${(bytes / 1024 ** 2).toFixed(bytes < 10 * 1024 ** 2 ? 1 : 0)} MiB`
}
