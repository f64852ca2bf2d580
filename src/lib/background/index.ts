/**
 * Commands that go on without their terminal: started, found again, followed and ended on this machine. Knows nothing
 * of what they do.
 */
export {startBackground, type BackgroundStart} from './start.ts'
export {openHandover, type Handover} from './handover.ts'
export {findBackground, listBackgrounds, type Background} from './record.ts'
export {endBackground, type BackgroundEnd} from './end.ts'
export {followLog} from './log.ts'
