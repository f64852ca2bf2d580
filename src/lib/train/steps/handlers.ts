import {BUCKET_HANDLERS} from '../../bucket/index.ts'
import {DATA_HANDLERS} from '../../data/index.ts'
import type {Handlers} from '../../plan/index.ts'
import {VOLUME_HANDLERS} from '../../volume/index.ts'
import {WORKSPACE_HANDLERS} from '../../workspace/index.ts'
import {lease} from './lease.ts'
import {preflight} from './preflight.ts'
import {reach} from './reach.ts'
import {reserve} from './reserve.ts'
import {route} from './route.ts'
import {start} from './start.ts'
import {submit} from './submit.ts'
import {track} from './track.ts'
import type {TrainEnv, TrainKinds} from './types.ts'

export const TRAIN_HANDLERS: Handlers<TrainKinds, TrainEnv> = {
  ...WORKSPACE_HANDLERS,
  ...DATA_HANDLERS,
  ...VOLUME_HANDLERS,
  ...BUCKET_HANDLERS,
  'train.reach': reach,
  'train.reserve': reserve,
  'train.route': route,
  'train.preflight': preflight,
  'train.track': track,
  'train.lease': lease,
  'train.start': start,
  'train.submit': submit,
}
