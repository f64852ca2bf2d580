import {sendFile} from '../artifact/index.ts'
import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Handlers, StepOf} from '../plan/index.ts'
import type {NativeFile} from './native.ts'

type PlaceInput = {node: string; name: string; sha256: string; file: string; executable: boolean}

export type PlaceKinds = {'gpu.place': {input: PlaceInput; output: void}}

export interface PlaceEnv {
  host(node: string): Host | Promise<Host>
  context: Context
}

export const PLACE_HANDLERS: Handlers<PlaceKinds, PlaceEnv> = {'gpu.place': placeFile}

/** Steps that put files on a node, but for those it has. */
export function placeSteps(node: string, placed: string[], files: NativeFile[]): StepOf<PlaceKinds>[] {
  return files
    .filter((file) => !placed.includes(file.name))
    .map(({name, sha256, file, executable}) => ({
      id: `place:${node}:${name}`,
      node,
      kind: 'gpu.place',
      title: `Put ${name} there`,
      input: {node, name, sha256, file, executable},
      needs: [],
    }))
}

/** Progress in bytes. */
export async function placeFile(
  {node, file, ...input}: PlaceInput,
  _done: unknown,
  {host, context}: PlaceEnv,
): Promise<void> {
  await sendFile(await host(node), {file, verb: 'gpu.place', input, title: `Sending ${input.name}`}, context)
}
