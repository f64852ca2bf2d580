/** The dashboard of a run, from this machine. */
export interface DashboardLink {
  run: string
  node: string
  url: string
  /** What the page asks for. */
  token: string
}

export function dashboardText({url, token}: DashboardLink): string {
  return `${url}\ntoken ${token}\nThe page asks for the token. Ctrl-C ends the forward.`
}
