/** What the page about the API says before its script has run. */
export const api = {
  title: 'API',
  noScript: 'This page needs script. The same is at',
}
