/** TensorBoard over the event files of runs. */
export {findEvents, type FoundEvents} from './find.ts'
export {planBoard, type BoardWish} from './plan.ts'
export {showBoard, type BoardEvent, type BoardLink} from './keep.ts'
