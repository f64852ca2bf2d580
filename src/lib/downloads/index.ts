export {indexWithinReach, openDownloads, type Downloads} from './open.ts'
export {bundledWheels, bundleFolder} from './bundled.ts'
