import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Site } from '../../api/operation.ts'
import { fixedText, publicMinute, sendText } from '../../http/caching.ts'
import { builtNames, builtScript } from './built-script.ts'
import { type Frame, fixedHeaders } from './layout.ts'

/** Our own green, that of `style.css` and `logo.svg`. */
const ownColor = '#0b5d40'
const scripts = new URL('../scripts/', import.meta.url)
/** For URLs that contain the hash of their content. */
const immutable = 'public, max-age=31536000, immutable'
const publicDay = 'public, max-age=86400'

/** Serves what pages load: one style sheet, our scripts, the logo, and the picture for link previews. */
export function routeAssets(
  app: FastifyInstance,
  site: Site,
): Pick<Frame, 'styleUrl' | 'scriptUrl'> {
  const ownColors = site.color === undefined ? '' : accentSheet(site.color)
  const style = fixedText(`${readText(new URL('style.css', import.meta.url))}${ownColors}`)
  const plainNames = readdirSync(scripts).filter((name) => name.endsWith('.js'))
  const ours = new Map([
    ...plainNames.map((name) => [name, fixedText(readText(new URL(name, scripts)))] as const),
    ...builtNames.map((name) => [name, fixedText(builtScript(name))] as const),
  ])
  const drawn = readText(new URL('logo.svg', import.meta.url))
  const logo = fixedText(drawn.replaceAll(ownColor, site.color ?? ownColor))
  const preview = fixedText(readFileSync(new URL('og.png', import.meta.url)))
  const assets = [
    ['/style.css', style, 'text/css', publicMinute],
    ...[...ours].map(
      ([name, text]) => [`/scripts/${name}`, text, 'text/javascript', publicMinute] as const,
    ),
    ['/logo.svg', logo, 'image/svg+xml', publicDay],
    ['/favicon.ico', logo, 'image/svg+xml', publicDay],
    ['/og.png', preview, 'image/png', publicDay],
  ] as const
  for (const [path, text, type, unversioned] of assets) {
    app.get(path, (request, reply) => {
      const isVersioned = request.raw.url === `${path}?v=${text.digest}`
      const cacheControl = isVersioned ? immutable : unversioned
      return sendText(request, reply.headers(fixedHeaders), { ...text, type, cacheControl })
    })
  }
  return {
    styleUrl: `/style.css?v=${style.digest}`,
    scriptUrl: (name) => `/scripts/${name}?v=${ours.get(name)?.digest}`,
  }
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
