/** Users of a rack's head, their teams, projects and tokens, and who is logged in from here. */
export {invitationOf, readInvitation} from './invitation.ts'
export {logIn, logOut, type LoginWish} from './login.ts'
export {carryOutPeople, planPeople, type PeopleChange} from './changes.ts'
