import type {ServiceConfig} from '../types.ts'
import {Endpoints} from './documents/endpoints.ts'
import type {Parts} from './parts.ts'
import {People} from './people/people.ts'
import {Rollouts} from './releases/rollouts.ts'
import {adoptFollowed} from './standby/adopt.ts'
import {Deposing} from './standby/deposing.ts'
import {Followers} from './standby/followers.ts'
import {Following} from './standby/following.ts'
import {Superseded} from './standby/superseded.ts'
import {Authority} from './tls/authority.ts'
import {Tokens} from './tokens/tokens.ts'
import {Traffic} from './gateway/traffic.ts'

/** What a head knows for good, on its own or by following another. */
export type Stores = Pick<
  Parts,
  'tokens' | 'people' | 'endpoints' | 'rollouts' | 'traffic' | 'authority' | 'followers' | 'following' | 'superseded'
>

/** Of a head: read from its folder. Of a standby: what it was told, for which it waits where that is nothing yet. */
export function openStores(config: ServiceConfig): Promise<Stores> {
  const {follow} = config
  return follow ? openFollowing({...config, follow}) : openOwn(config)
}

async function openOwn({folder}: ServiceConfig): Promise<Stores> {
  await adoptFollowed(folder)
  const authority = await Authority.open(folder)
  const tokens = await Tokens.open(folder)
  const people = await People.open(folder)
  const endpoints = await Endpoints.open(folder)
  const rollouts = await Rollouts.open(folder)
  const followers = new Followers(tokens)
  for (const one of [tokens, endpoints, rollouts]) one.whenChanged(() => followers.changed())
  const superseded = await Superseded.open(folder)
  return {tokens, people, endpoints, rollouts, traffic: new Traffic(), authority, followers, superseded}
}

async function openFollowing(config: Parameters<typeof Following.open>[0]): Promise<Stores> {
  await Superseded.forget(config.folder)
  await Deposing.forget(config.folder)
  const superseded = await Superseded.open(config.folder)
  const tokens = await Tokens.following(config.folder)
  const endpoints = Endpoints.following()
  const rollouts = Rollouts.following()
  const traffic = new Traffic()
  const following = await Following.open(config, {tokens, endpoints, rollouts, traffic})
  const followers = new Followers(tokens)
  const people = People.following()
  return {
    tokens,
    people,
    endpoints,
    rollouts,
    traffic,
    authority: following.certificates,
    followers,
    following,
    superseded,
  }
}
