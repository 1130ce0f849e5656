import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Site } from '../../api/operation.ts'
import { type FixedText, fixedText, publicMinute, sendText } from '../../http/caching.ts'
import { builtNames, builtScript } from './built-script.ts'
import { fixedHeaders } from './layout.ts'

/** Our own green, that of `style.css` and `logo.svg`. */
const ownColor = '#0b5d40'
const scripts = new URL('../scripts/', import.meta.url)
/** For URLs that contain the hash of their content. */
const immutable = 'public, max-age=31536000, immutable'
const publicDay = 'public, max-age=86400'

interface Assets {
  readonly styleUrl: string
  readonly scriptUrl: (name: string) => string
}

/** Serves what pages load: one style sheet, our scripts, the logo, and the picture for link previews. */
export function routeAssets(app: FastifyInstance, site: Site): Assets {
  const ownColors = site.color === undefined ? '' : accentSheet(site.color)
  const style = fixedText(`${readText(new URL('style.css', import.meta.url))}${ownColors}`)
  const ours = new Map(
    [
      ...namesIn(scripts, '.js').map((name) => [name, readText(new URL(name, scripts))] as const),
      ...builtNames.map((name) => [name, builtScript(name)] as const),
    ].map(([name, text]) => [name, fixedText(text)]),
  )
  const logo = logoIn(site.color)
  const preview = readFileSync(new URL('og.png', import.meta.url))
  routeAsset(app, '/style.css', { text: style, type: 'text/css' })
  for (const [name, script] of ours) {
    routeAsset(app, `/scripts/${name}`, { text: script, type: 'text/javascript' })
  }
  const fixed = [
    ['/logo.svg', logo, 'image/svg+xml'],
    ['/favicon.ico', logo, 'image/svg+xml'],
    ['/og.png', preview, 'image/png'],
  ] as const
  for (const [path, text, type] of fixed) {
    app.get(path, (request, reply) => {
      reply.headers(fixedHeaders)
      return sendText(request, reply, { text, type, cacheControl: publicDay })
    })
  }
  return {
    styleUrl: `/style.css?v=${style.digest}`,
    scriptUrl: (name) => `/scripts/${name}?v=${ours.get(name)?.digest}`,
  }
}

function routeAsset(
  app: FastifyInstance,
  path: string,
  { text, type }: { readonly text: FixedText; readonly type: string },
): void {
  const isNamed = ({ raw: { url = '' } }: FastifyRequest) => url === `${path}?v=${text.digest}`
  app.get(path, (request, reply) => {
    reply.headers(fixedHeaders)
    const cacheControl = isNamed(request) ? immutable : publicMinute
    return sendText(request, reply, { ...text, type, cacheControl })
  })
}

function logoIn(color: string | undefined): string {
  const logo = readText(new URL('logo.svg', import.meta.url))
  return color === undefined ? logo : logo.replaceAll(ownColor, color)
}

function namesIn(folder: URL, ending: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
}

function readText(file: URL): string {
  return readFileSync(file, 'utf8')
}

/**
 * Replaces our colour with the operator's (`#rrggbb`), made darker or lighter until text in it is readable in each
 * theme. Browsers that cannot do this keep ours.
 */
function accentSheet(color: string): string {
  const accent = (lightness: string, ink: string) =>
    `:root { --accent: oklch(from ${color} ${lightness} calc(c * 0.9) h); --on-accent: ${ink}; --stripe: color-mix(in srgb, var(--accent) 22%, var(--card)); }`
  return `@supports (color: oklch(from red l c h)) {
${accent('min(l, 0.47)', '#fff')}
@media (prefers-color-scheme: dark) { ${accent('max(l, 0.8)', '#10150f')} }
}
`
}
