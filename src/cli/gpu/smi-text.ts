import {sizeText} from '../../lib/base/index.ts'
import type {GpuDevice, GpuReport} from '../../lib/gpu/index.ts'
import {nodesText, percent, shortText, turnsText} from './text.ts'
import {paint} from '../terminal/print.ts'
import {bar, visibleWidth} from '../terminal/render.ts'

const NARROWEST = 48
const WIDEST = 110

/**
 * A box a node: each device with bars for memory and time, and under it who has which share. `width`: columns of the
 * screen.
 */
export function gpuSmiText(report: GpuReport, width = process.stdout.columns ?? 80, now = new Date()): string {
  const wide = Math.max(NARROWEST, Math.min(width, WIDEST))
  const held = report.leases.length
  const title = `rack ${report.rack}`
  const clock = now.toTimeString().slice(0, 8)
  const total = report.devices.reduce((sum, one) => sum + one.memory, 0)
  const used = report.devices.reduce((sum, one) => sum + one.used, 0)
  const summary = `${report.devices.length} GPU${report.devices.length === 1 ? '' : 's'}, ${sizeText(used)} of ${sizeText(total)} used, ${held} lease${held === 1 ? '' : 's'}`
  const head = [between(paint.bold(title), clock, wide), summary]
  const boxes = report.nodes
    .filter((node) => node.state === 'running')
    .map((node) => {
      const own = report.devices.filter((device) => device.node === node.node)
      const inner = wide - 4
      const lines = own.flatMap((device, index) => [...(index > 0 ? [''] : []), ...deviceLines(device, inner)])
      return box(
        node.node,
        `${node.backend === 'sim' ? 'in software, ' : ''}${node.address}:${node.port}`,
        lines.length > 0 ? lines : ['no device'],
        wide,
      )
    })
  const rest = nodesText(report.nodes)
  return [...head, ...boxes, ...(rest === '' ? [] : [rest])].join('\n')
}

function deviceLines(device: GpuDevice, width: number): string[] {
  const leased = device.whole ? device.memory : device.memory - device.free.memory
  const cells = Math.max(8, Math.min(40, width - 38))
  const lines = [
    between(
      nameLine(device, width - 10),
      device.whole ? 'whole' : device.holders.length > 0 ? 'shared' : paint.green('free'),
      width,
    ),
    `   memory ${bar(device.used / Math.max(1, device.memory), leased / Math.max(1, device.memory), cells)} ${sizeText(device.used)} of ${sizeText(device.memory)}`,
    `   time   ${bar(device.utilisation, device.whole ? 1 : 1 - device.free.compute, cells)} ${percent(device.utilisation)} busy`,
  ]
  const beyond = device.oversubscribed
  if (beyond && (beyond.granted > 0 || beyond.isThrashing))
    lines.push(
      `   turns  ${sizeText(beyond.granted)} granted, ${sizeText(beyond.physical)} on the GPU, ${sizeText(beyond.swapped)} in host memory${beyond.isThrashing ? paint.red(', thrashing') : ''}`,
    )
  const holders = device.holders.map((one) => {
    const share = [
      one.whole ? 'all of it' : `${sizeText(one.memory)}, ${percent(one.compute)}`,
      ...(one.turns ? [turnsText(one.turns)] : []),
      ...(one.longestLaunch === null ? [] : [`longest kernel ${shortText(one.longestLaunch)}`]),
    ].join(', ')
    return between(
      `   ${cut(`${one.owner}${one.purpose ? `  ${one.purpose}` : ''}`, width - share.length - 5)}`,
      share,
      width,
    )
  })
  return [...lines, ...holders].map((line) => cut(line, width))
}

/** The name, and what the device is reached through where there is room for it. */
function nameLine(device: GpuDevice, width: number): string {
  const {api, capability, driver} = device
  const version = driver === '' ? '' : api === 'cuda' ? `, CUDA ${driver}` : `, driver ${driver}`
  const about = `${api === 'cuda' ? `capability ${capability}` : api}${version}`
  const name = cut(`${device.index}  ${device.name}`, width)
  return `${paint.bold(name)}${name.length + about.length + 2 <= width ? `  ${paint.dim(about)}` : ''}`
}

function box(left: string, right: string, lines: string[], width: number): string {
  const top = `┌ ${paint.bold(left)} ${'─'.repeat(Math.max(1, width - left.length - right.length - 6))} ${paint.dim(right)} ┐`
  return [
    top,
    ...lines.map((line) => `│ ${line}${' '.repeat(Math.max(0, width - 4 - visibleWidth(line)))} │`),
    `└${'─'.repeat(visibleWidth(top) - 2)}┘`,
  ].join('\n')
}

function between(left: string, right: string, width: number): string {
  return `${left}${' '.repeat(Math.max(1, width - visibleWidth(left) - visibleWidth(right)))}${right}`
}

/** Shortened to columns; a text with colours is left as it is, because those are as short as they can be. */
function cut(text: string, width: number): string {
  return text.length === visibleWidth(text) && text.length > width ? `${text.slice(0, Math.max(1, width - 1))}…` : text
}
