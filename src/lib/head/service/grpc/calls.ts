import type {Hold} from '../limits/budget.ts'
import type {Caller} from '../tokens/token-kinds.ts'
import {take} from './frames.ts'
import {
  readInfer,
  readModel,
  writeInfer,
  writeMetadata,
  writeServer,
  writeStreamed,
  writeTruth,
  type HttpRequest,
} from './messages.ts'
import type {HttpAnswer, Onward} from './onward.ts'
import {Malformed} from './protobuf.ts'
import {CODES, Status} from './status.ts'

/** Whose call it is, and what it may hold. */
export interface Call {
  caller: Caller
  authorization: string
  signal: AbortSignal
  /** When its caller gives it up, by performance.now(). */
  deadline: number | undefined
  hold: Hold
  /** What its caller says besides, as headers. */
  metadata: Record<string, string>
  /** Told which release has answered. */
  tell(release: string): void
}

/** Answers a message with another, in pieces. Throws Status. */
export type Method = (message: Buffer, call: Call) => Promise<Buffer[]>

/** Of inference.GRPCInferenceService: what a caller of an endpoint may have (gateway/calls.ts has the same over HTTP). */
export function methodsOf(onward: Onward, version: string): Record<string, Method> {
  /** The server is the endpoint of the token; for who has the admin token it is the head. */
  const ofServer = async (call: Call, path: string): Promise<Record<string, unknown> | undefined> => {
    if (call.caller.kind !== 'endpoint') return undefined
    return json(await onward.ask(`/endpoints/${encodeURIComponent(call.caller.endpoint)}${path}`, call))
  }
  const isServer =
    (path: string): Method =>
    async (_message, call) =>
      writeTruth(await isTrue(ofServer(call, path)))
  const infer = async (message: Buffer, call: Call, isStreamed: boolean): Promise<Buffer[]> => {
    const asked = read(() => readInfer(message, (bytes) => take(call.hold, bytes)))
    try {
      const answer = await onward.ask(`${pathOf(asked)}/infer`, call, {
        pieces: [asked.head, ...asked.tensors],
        headerLength: asked.head.length,
      })
      const pieces = written(() => writeInfer(answer.body, answer.headerLength, isStreamed ? true : undefined))
      return isStreamed ? writeStreamed(pieces) : pieces
    } catch (error) {
      // What one request of a stream met is told in the stream; who may not go on is not let on.
      if (!isStreamed || !(error instanceof Status) || error.code === CODES.unauthenticated || call.signal.aborted)
        throw error
      return writeStreamed({error: error.message, id: asked.id})
    }
  }
  return {
    ServerLive: isServer('/v2/health/live'),
    ServerReady: isServer('/v2/health/ready'),
    ServerMetadata: async (_message, call) =>
      writeServer((await ofServer(call, '/v2')) ?? {name: 'flexrack', version, extensions: []}),
    ModelReady: async (message, call) =>
      writeTruth(await isTrue(onward.ask(`${pathOf(read(() => readModel(message)))}/ready`, call))),
    ModelMetadata: async (message, call) => {
      const said = json(await onward.ask(pathOf(read(() => readModel(message))), call))
      return written(() => writeMetadata(said))
    },
    ModelInfer: (message, call) => infer(message, call, false),
    ModelStreamInfer: (message, call) => infer(message, call, true),
  }
}

/** Where the answer is that it is not so, and not that nobody may ask. */
async function isTrue(asking: Promise<unknown>): Promise<boolean> {
  try {
    await asking
    return true
  } catch (error) {
    if (error instanceof Status && (error.code === CODES.unavailable || error.code === CODES.invalid)) return false
    throw error
  }
}

function pathOf({model, version}: Pick<HttpRequest, 'model' | 'version'>): string {
  if (model === '') throw new Status(CODES.invalid, 'the model is not named; it has the name of its endpoint')
  const name = encodeURIComponent(model)
  return `/endpoints/${name}/v2/models/${name}${version === '' ? '' : `/versions/${encodeURIComponent(version)}`}`
}

function read<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Malformed) throw new Status(CODES.invalid, error.message)
    throw error
  }
}

/** What a model server answered, in messages. */
function written<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Status(CODES.internal, `the model server's answer cannot be told in gRPC: ${(error as Error).message}`)
  }
}

function json({body}: HttpAnswer): Record<string, unknown> {
  return written(() => JSON.parse(body.toString('utf8')) as Record<string, unknown>)
}
