export {APPLY, type AppliedBundle, type ApplyKinds} from './apply.ts'
export {CREATE, removeDraft, type BundleWish, type CreateKinds, type MadeBundle} from './create.ts'
export type {WheelSource} from './sources.ts'
