/** Who somebody is to the heads of their racks, as kept on this machine. */
export {dropLogin, keepLogin, readLogin} from './kept.ts'
