import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Site } from '../../api/site.ts'
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
  /** The address of a script, "live.js"; it changes when the script does. */
  readonly scriptUrl: (name: string) => string
}

/** Serves what pages load: one style sheet, our scripts, the logo, and the picture for link previews. */
export function routeAssets(app: FastifyInstance, site: Site): Assets {
  const ownColors = site.color === undefined ? '' : accentSheet(site.color)
  const style = fixedText(`${read(new URL('style.css', import.meta.url))}${ownColors}`)
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
    styleUrl: `/style.css?v=${style.digest}`,
    scriptUrl: (name) => `/scripts/${name}?v=${ours.get(name)?.digest}`,
  }
}

function routeFound(
  app: FastifyInstance,
  path: string,
  { found, type }: { readonly found: FixedText; readonly type: string },
): void {
  const isNamed = ({ raw: { url = '' } }: FastifyRequest) => url === `${path}?v=${found.digest}`
  app.get(path, (request, reply) => {
    reply.headers(fixedHeaders)
    const cacheControl = isNamed(request) ? immutable : publicMinute
    return sendText(request, reply, { ...found, type, cacheControl })
  })
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

/** A colour by its red, green and blue, each 0 to 255. */
type Rgb = readonly [red: number, green: number, blue: number]

/** A colour in which text is readable, and the colour of readable text on it. */
interface Accent {
  readonly color: string
  readonly on: string
}

interface Accents {
  readonly light: Accent
  readonly dark: Accent
}

/** The backgrounds of the accent in each theme: the page and the cards of `style.css`. */
const grounds = { light: ['#f3f5f1', '#ffffff'], dark: ['#0e1411', '#171f1b'] } as const
const white = '#ffffff'
const ink = '#10150f'

/** The minimum contrast of text in the accent colour; WCAG 2.2 AA requires 4.5. */
const wanted = { light: 5, dark: 6.5 } as const

/**
 * The operator's colour for each theme, made darker or lighter until text in it is readable. So no colour makes pages
 * unreadable.
 *
 * @param color `#rrggbb`
 */
export function accentsOf(color: string): Accents {
  return { light: accentFor(color, 'light'), dark: accentFor(color, 'dark') }
}

/** The contrast of two colours by WCAG 2.2, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

/** The first colour mixed with a share of the second, from 0 to 1. */
export function mixed(one: string, other: string, share: number): string {
  const target = rgbOf(other)
  const parts = rgbOf(one).map((part, at) => {
    return Math.round(part + ((target[at] as number) - part) * share)
  })
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

function rgbOf(color: string): Rgb {
  const number = Number.parseInt(color.slice(1), 16)
  return [number >> 16, (number >> 8) & 255, number & 255]
}

/** The custom properties that replace our colour with the operator's. */
export function accentSheet(color: string): string {
  const { light, dark } = accentsOf(color)
  const rule = ({ color: accent, on }: Accent, ground: string) => {
    const stripe = mixed(accent, ground, 0.78)
    return `:root { --accent: ${accent}; --on-accent: ${on}; --stripe: ${stripe}; }`
  }
  return `${rule(light, grounds.light[1])}
@media (prefers-color-scheme: dark) { ${rule(dark, grounds.dark[0])} }
`
}

function accentFor(color: string, theme: 'light' | 'dark'): Accent {
  const towards = theme === 'light' ? '#000000' : white
  const isRead = (tried: string) =>
    grounds[theme].every((ground) => contrastOf(tried, ground) >= wanted[theme])
  const steps = Array.from({ length: 101 }, (_, at) => mixed(color, towards, at / 100))
  const accent = steps.find(isRead) ?? towards
  return { color: accent, on: contrastOf(accent, white) >= contrastOf(accent, ink) ? white : ink }
}

function luminanceOf(color: string): number {
  const [red, green, blue] = rgbOf(color).map((part) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
