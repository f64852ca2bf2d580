/** Pictures of numbers, as SVG that needs no program to be read. */
export {drawLines, type Line, type Panel} from './lines.ts'
export {savePicture} from './save.ts'
