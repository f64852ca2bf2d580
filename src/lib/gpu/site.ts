import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {executePlan, throwIfFailed} from '../plan/index.ts'
import type {Api, LeaseFile} from '../protocol/index.ts'
import {DRIVERS, driverLinks, isSoftware, type DriverLinks} from './drivers.ts'
import {writeLeases, type PlacedLeases} from './lease-file.ts'
import {forNode, loadNative, nativePath, type NativeFile, type Product} from './native.ts'
import {PLACE_HANDLERS, placeSteps} from './place-files.ts'

/** Where a command with leases runs, once it has what it needs for them. */
export interface Site {
  /** Puts the lease file there; `folder` is all of it, where that is a node. */
  deliver(content: LeaseFile): Promise<PlacedLeases & {keeper: string; folder?: string; remove(): Promise<unknown>}>
}

export function prepareHere(api: Api, context: Context): Site {
  const keeper = nativePath('flexrack-lease-keeper', context.env)
  const fileOf = (product: Product): string => nativePath(product, context.env)
  for (const product of DRIVERS[api]) fileOf(product)
  return {
    deliver: async (content) => ({
      ...(await writeLeases(content, driverLinks(api, fileOf, isSoftware(content.servers)), context.env)),
      keeper,
    }),
  }
}

/** Puts the drivers and flexrack-lease-keeper on the node, where they are not there yet. */
export async function prepareNode(host: Host, api: Api, context: Context): Promise<Site> {
  const nameOf = await placeDrivers(host, api, context)
  return {
    deliver: async (leases) => {
      const {folder, ...placed} = await host.call('gpu.deliver', {
        leases,
        keeper: nameOf('flexrack-lease-keeper'),
        ...driverLinks(api, nameOf, isSoftware(leases.servers)),
      })
      return {...placed, folder, remove: () => host.call('gpu.forget', {folder})}
    },
  }
}

/** For a node that leases without us: what it needs is put there, and what that is called is told. */
export async function prepareOwn(
  host: Host,
  api: Api,
  software: boolean,
  context: Context,
): Promise<{keeper: string} & DriverLinks> {
  const nameOf = await placeDrivers(host, api, context)
  return {keeper: nameOf('flexrack-lease-keeper'), ...driverLinks(api, nameOf, software)}
}

async function placeDrivers(host: Host, api: Api, context: Context): Promise<(product: Product) => string> {
  const products: Product[] = ['flexrack-lease-keeper', ...DRIVERS[api]]
  const built = await Promise.all(products.map((product) => loadNative(product, context.env)))
  const found = await host.call(
    'gpu.inspect',
    {programs: built.flat().map((file) => file.name)},
    {signal: context.signal},
  )
  const files = forNode(built, host.node, found)
  const nameOf = (product: Product): string => (files[products.indexOf(product)] as NativeFile).name
  const plan = {command: 'workspace exec', steps: placeSteps(host.node, found.placed, files)}
  throwIfFailed(await executePlan(plan, PLACE_HANDLERS, {host: () => host, context}, context))
  return nameOf
}
