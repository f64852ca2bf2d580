export {TRACKER, type Peer} from './tracker.ts'
export {indexWithinReach, openDownloads, type Downloads} from './open.ts'
export {bundledWheels, bundleFolder} from './bundled.ts'
