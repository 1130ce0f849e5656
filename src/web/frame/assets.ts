import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Site } from '../../desk/site.ts'
import { sendText } from '../../http/caching.ts'
import { accentSheet, accentsOf } from './color.ts'
import { routeNamed } from './named-asset.ts'
import { ogImage } from './og-image.ts'
import { fixedHeaders } from './page-headers.ts'

/** Our own green, that of `base.css` and `logo.svg`. */
const ownColor = '#0b5d40'
const styles = new URL('styles/', import.meta.url)
/** Every other sheet builds on it. */
const firstSheet = 'base.css'

const publicDay = 'public, max-age=86400'

/** Serves the look of the pages: one style sheet, the logo, and the picture for previews. */
export function routeLook(app: FastifyInstance, site: Site): { readonly styleUrl: string } {
  const logo = logoIn(site.color)
  const preview = ogImage(site.name, accentsOf(site.color ?? ownColor).light.color)
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
  const style = { text: styleSheet(site.color), type: 'text/css' }
  return { styleUrl: routeNamed(app, '/style.css', style) }
}

/** Every sheet of `styles/` in one, the base of them first, with the operator's colour behind it. */
function styleSheet(color: string | undefined): string {
  const others = readdirSync(styles)
    .filter((name) => name !== firstSheet && name.endsWith('.css'))
    .sort()
  const sheets = [firstSheet, ...others].map((name) => read(new URL(name, styles)))
  return [...sheets, ...(color === undefined ? [] : [accentSheet(color)])].join('\n')
}

/** Our logo in the operator's colour, for stores that bring none of their own. */
function logoIn(color: string | undefined): string {
  const logo = read(new URL('logo.svg', import.meta.url))
  return color === undefined ? logo : logo.replaceAll(ownColor, accentsOf(color).light.color)
}

function read(file: URL): string {
  return readFileSync(file, 'utf8')
}
