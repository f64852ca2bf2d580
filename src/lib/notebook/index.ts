/** JupyterLab for a workspace. */
export {notebookWish} from './count.ts'
export {planNotebook, startNotebook, type NotebookInput} from './plan.ts'
export {findNotebooks, type Notebook, type NotebookKernel} from './show.ts'
export {reachNotebook, type NotebookLink} from './reach.ts'
