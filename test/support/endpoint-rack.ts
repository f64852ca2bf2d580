import type {Context} from '../../src/lib/base/index.ts'
import {openEndpoints, type Endpoints} from '../../src/lib/endpoint/index.ts'
import {openTracking, startHead, type Tracking} from '../../src/lib/head/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {modelsOf, type Models} from '../../src/lib/model/index.ts'
import {sharedEnvironments} from './environments.ts'
import {finishedRun} from './finished-run.ts'
import {startLocalRack, type TestLocalRack} from './local-rack.ts'

/** A local rack with a head, its registry, and endpoints on it. */
export interface EndpointRack {
  rack: TestLocalRack
  tracking: Tracking
  models: Models
  endpoints: Endpoints
  /** Endpoints with another context (aborted by a test, say); closed by stop(). */
  open(parts?: Partial<Context>, manifest?: Manifest): Promise<Endpoints>
  /** A finished run with these artifacts; returns its name. */
  run(name: string, artifacts: Record<string, Buffer>): Promise<string>
  stop(): Promise<void>
}

export async function startEndpointRack(options: {nodes: number}): Promise<EndpointRack> {
  const rack = await startLocalRack({nodes: options.nodes, environments: await sharedEnvironments()})
  const opened: Endpoints[] = []
  try {
    const fleet = rack.fleet()
    await startHead(rack.rack, fleet, rack.context())
    const open = async (parts: Partial<Context> = {}, manifest?: Manifest): Promise<Endpoints> => {
      const endpoints = await openEndpoints({rack: rack.rack, fleet: rack.fleet(parts), manifest}, rack.context(parts))
      opened.push(endpoints)
      return endpoints
    }
    const tracking = await openTracking({rack: rack.rack, fleet}, rack.context())
    return {
      rack,
      tracking,
      open,
      models: modelsOf(tracking.mlflow, rack.context()),
      endpoints: await open(),
      run: (name, artifacts) => finishedRun(tracking, name, artifacts),
      stop: async () => {
        await Promise.all(opened.map((one) => one.close()))
        await tracking.close()
        await rack.stop()
      },
    }
  } catch (error) {
    await rack.stop()
    throw error
  }
}
