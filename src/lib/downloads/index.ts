export {indexWithinReach, openDownloads, type Downloads} from './open.ts'
