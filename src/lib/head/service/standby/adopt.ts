import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {textIfThere} from '../../../base/index.ts'
import {HEAD_FILES} from '../../types.ts'
import {writeDurably} from '../files/durable.ts'
import type {EndpointRecord} from '../documents/endpoints.ts'
import {logLine} from '../log.ts'
import {succeed} from '../tls/authority.ts'
import {readFollowed} from './followed.ts'

/**
 * A standby that is started as the head takes over what it followed: endpoints, canaries, keys, and with which
 * certificate the model servers know the gateway. The authority's key was the other head's alone, so there is a new
 * authority; the old one is trusted beside it for as long as it lives. Done anew after a crash in the middle.
 */
export async function adoptFollowed(folder: string): Promise<void> {
  const followed = await readFollowed(folder)
  if (!followed) return
  const {state, gateway, first} = followed
  if (state) {
    for (const name of ['endpoints', 'rollouts']) await rm(join(folder, name), {recursive: true, force: true})
    for (const [name, record] of Object.entries(state.endpoints))
      await writeDurably('head.endpoint', join(folder, 'endpoints', `${name}.json`), withRunning(record))
    for (const [name, rollout] of Object.entries(state.rollouts))
      await writeDurably('head.rollout', join(folder, 'rollouts', `${name}.json`), rollout)
    await writeDurably('head.tokens', join(folder, 'tokens.json'), {tokens: state.tokens})
    await rm(join(folder, 'locks.json'), {force: true})
    await succeed(folder, {former: state.ca, gateway})
    const token = (await textIfThere(join(folder, HEAD_FILES.followToken)))?.trim()
    if (first && token)
      await writeDurably('head.former', join(folder, HEAD_FILES.former), {...first, ca: state.ca, token})
    logLine(`this standby is the head from here on: ${Object.keys(state.endpoints).length} endpoints were taken over`)
  }
  // The last one to go is what this is done anew by.
  await rm(join(folder, HEAD_FILES.followToken), {force: true})
  await rm(join(folder, HEAD_FILES.followed), {force: true})
}

/** The servers that run now are those to begin with. */
function withRunning({revision, document, running}: EndpointRecord): Pick<EndpointRecord, 'revision' | 'document'> {
  const {active} = document
  return {revision, document: running && active ? {...document, active: {...active, targets: running}} : document}
}
