/** Buckets, by rclone: copies to nodes before a run, and from them after. */
export {remoteOf, remotesOf} from './remotes.ts'
export {needRclone} from './tool.ts'
export {BUCKET_HANDLERS, bucketSteps, type BucketKinds} from './steps.ts'
