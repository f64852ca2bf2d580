/** What a bundle may be for. */
export const PARTS = ['program', 'head', 'sweep', 'endpoints', 'project'] as const
export type Part = (typeof PARTS)[number]
