import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Site } from '../../api/site.ts'
import type { CachedAnswer } from '../../http/answer-cache.ts'
import { publicMinute, sendAnswer, sendText } from '../../http/caching.ts'
import { fixedText } from '../../http/fixed-text.ts'
import { builtNames, builtScript } from './built-script.ts'
import { accentSheet, accentsOf } from './color.ts'
import { fixedHeaders } from './page-headers.ts'

/** Our own green, that of `base.css` and `logo.svg`. */
const ownColor = '#0b5d40'
const styles = new URL('styles/', import.meta.url)
const scripts = new URL('../scripts/', import.meta.url)
/** The sheets shared by all pages. They come first, those of single pages follow, and `print.css` comes last. */
export const sharedSheets: readonly string[] = ['base.css', 'frame.css', 'fields.css', 'parts.css']
const lastSheet = 'print.css'

/** For URLs that contain the hash of their content. */
const immutable = 'public, max-age=31536000, immutable'
const publicDay = 'public, max-age=86400'

export interface Assets {
  readonly styleUrl: string
  /** The address of a script, "live.js"; it changes when the script does. */
  readonly scriptUrl: (name: string) => string
}

/** Serves what pages load: one style sheet, our scripts, the logo, and the picture for link previews. */
export function routeAssets(app: FastifyInstance, site: Site): Assets {
  const style = fixedText(styleSheet(site.color))
  const ours = new Map(
    [
      ...namesIn(scripts, '.js').map((name) => [name, read(new URL(name, scripts))] as const),
      ...builtNames.map((name) => [name, builtScript(name)] as const),
    ].map(([name, text]) => [name, fixedText(text)]),
  )
  const logo = logoIn(site.color)
  const preview = readFileSync(new URL('og.png', import.meta.url))
  routeFound(app, '/style.css', { found: style, type: 'text/css' })
  for (const [name, found] of ours) {
    routeFound(app, `/scripts/${name}`, { found, type: 'text/javascript' })
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
    styleUrl: `/style.css?v=${style.answer.digest}`,
    scriptUrl: (name) => `/scripts/${name}?v=${ours.get(name)?.answer.digest}`,
  }
}

function routeFound(
  app: FastifyInstance,
  path: string,
  { found, type }: { readonly found: CachedAnswer; readonly type: string },
): void {
  // Compressed now, so that even the first visitor gets a compressed form.
  found.smaller('br')
  found.smaller('gzip')
  const isNamed = ({ raw: { url = '' } }: FastifyRequest) =>
    url === `${path}?v=${found.answer.digest}`
  app.get(path, (request, reply) => {
    reply.headers(fixedHeaders)
    const cacheControl = isNamed(request) ? immutable : publicMinute
    return sendAnswer(request, reply, { found, type, cacheControl })
  })
}

/** All sheets of `styles/` in one, followed by the operator's colour. */
function styleSheet(color: string | undefined): string {
  const inOrder = new Set([...sharedSheets, ...namesIn(styles, '.css')])
  inOrder.delete(lastSheet)
  const sheets = [...inOrder, lastSheet].map((name) => read(new URL(name, styles)))
  return [...sheets, ...(color === undefined ? [] : [accentSheet(color)])].join('\n')
}

/** Our logo in the operator's colour, for stores without a logo of their own. */
function logoIn(color: string | undefined): string {
  const logo = read(new URL('logo.svg', import.meta.url))
  return color === undefined ? logo : logo.replaceAll(ownColor, accentsOf(color).light.color)
}

function namesIn(folder: URL, ending: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
}

function read(file: URL): string {
  return readFileSync(file, 'utf8')
}
