import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The media type of a document that a host shows for a tool (MCP Apps, 2026-01-26). */
const mimeType = 'text/html;profile=mcp-app'

/** The titles of the documents that show answers of tools, by the last part of their URIs. */
const apps = {
  offers: 'Offers to choose from',
  price: 'The price of a purchase',
  order: 'An order',
} as const
export type AppName = keyof typeof apps

const uriOf = (name: string) => `ui://kiosk402/${name}`

/** The `_meta` by which a tool names the document that shows its answers. */
export function appMeta(name: AppName) {
  return { ui: { resourceUri: uriOf(name) } }
}

/** The documents load nothing and talk only to their host. */
const meta = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } }

const all = Object.entries(apps).map(([name, title]) => ({
  ...{ uri: uriOf(name), name, title, mimeType, _meta: meta },
  text: documentOf(title),
}))

/** The documents as `resources/list` returns them. */
export const listedApps = all.map(({ text: _, ...listed }) => listed)

/** One document as `resources/read` returns it; undefined if no document has this URI. */
export function readApp(wanted: string) {
  const app = all.find(({ uri }) => uri === wanted)
  if (app === undefined) return undefined
  const { uri, text } = app
  return { contents: [{ uri, mimeType, text, _meta: meta }] }
}

/** A self-contained document. Its policy allows only its own script and style, by their hashes. */
function documentOf(title: string): string {
  const [script, style] = [textOf('app.js'), textOf('app.css')]
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="${policy}">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main aria-live="polite"><p>Waiting for the store…</p></main>
<script type="module">${script}</script>
</body>
</html>
`
}

function textOf(name: string): string {
  return readFileSync(new URL(`apps/${name}`, import.meta.url), 'utf8')
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
