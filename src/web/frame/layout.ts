import type { Site } from '../../api/operation.ts'
import type { Texts } from '../texts/texts.ts'
import { dataBlock, type Html, html, textOf } from './html.ts'

export interface Frame {
  readonly site: Site
  /** The URL of the style sheet; it changes when the sheet does. */
  readonly styleUrl: string
  readonly scriptUrl: (name: string) => string
  readonly isSandbox: boolean
  readonly t: Texts
}

export interface Crumb {
  readonly name: string
  readonly path: string
}

export interface Page {
  readonly title: string
  /** One or two sentences, for search engines and link previews. */
  readonly description: string
  /** The canonical path, "/buy/AMZ"; absent on pages that must not be indexed, such as errors. */
  readonly path?: string
  readonly openGraph?: Readonly<Record<string, string>>
  readonly data?: object
  readonly head?: Html
  /** Our own scripts that it runs, "live.js". They may send requests to this store. */
  readonly scripts?: readonly string[]
  readonly drawsPictures?: true
  readonly main: Html
}

export function document(frame: Frame, page: Page): string {
  const { site, styleUrl, scriptUrl, t } = frame
  const title = page.title === site.name ? site.name : `${page.title} · ${site.name}`
  return textOf(html`<!doctype html>
<html lang="${t.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${page.description}">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f3f5f1" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0e1411" media="(prefers-color-scheme: dark)">
<link rel="icon" href="/logo.svg" type="image/svg+xml">
<link rel="stylesheet" href="${styleUrl}">
${page.scripts?.map(
  (name) => html`<script type="module" src="${scriptUrl(name)}"></script>
`,
)}${addressTags(frame, page)}
${page.data && dataBlock(page.data)}
${page.head}
</head>
<body>
<a class="skip" href="#main">${t('frame.skip')}</a>
${header(frame)}
<main id="main" tabindex="-1">
${page.main}
</main>
${footer(frame)}
</body>
</html>
`)
}

/** The tags of a page with a canonical path. All other pages, such as errors, must not be indexed. */
function addressTags({ site }: Frame, page: Page): Html {
  if (page.path === undefined) return html`<meta name="robots" content="noindex">`
  const url = `${site.url}${page.path}`
  const properties = {
    'og:type': 'website',
    'og:site_name': site.name,
    'og:title': page.title,
    'og:description': page.description,
    'og:url': url,
    'og:image': `${site.url}/og.png`,
    ...page.openGraph,
  }
  return html`<link rel="canonical" href="${url}">
${Object.entries(properties).map(
  ([property, content]) => html`<meta property="${property}" content="${content}">
`,
)}<meta name="twitter:card" content="summary_large_image">`
}

/** @param crumbs those after the front page; the last one is this page */
export function crumbTrail(crumbs: readonly Crumb[], t: Texts): Html {
  const last = crumbs.length - 1
  return html`<nav class="crumbs" aria-label="${t('frame.crumbs')}"><ol>
<li><a href="/">${t('frame.home')}</a></li>
${crumbs.map(({ name, path }, at) =>
  at === last
    ? html`<li><span aria-current="page">${name}</span></li>`
    : html`<li><a href="${path}">${name}</a></li>
`,
)}</ol></nav>`
}

function header({ site, isSandbox, t }: Frame): Html {
  const { name, logo, isRehearsal } = site
  return html`<header class="head">
${isSandbox && html`<p class="sandbox">${t('frame.sandbox')}</p>`}
${isRehearsal && html`<p class="sandbox">${t('frame.rehearsal')}</p>`}
<div class="bar">
<a class="store" href="/"><img src="${logo}" alt="" width="36" height="36"><span>${name}</span></a>
<nav aria-label="${t('frame.navigation')}"><ul>
<li><a href="/search">${t('frame.shop')}</a></li>
<li><a href="/how-it-works">${t('frame.how')}</a></li>
<li><a href="/find">${t('frame.find')}</a></li>
</ul></nav>
</div>
</header>`
}

function footer({ site: { name, contact, description }, t }: Frame): Html {
  const links = (list: readonly (readonly [path: string, name: string])[]) =>
    html`<ul>
${list.map(
  ([path, label]) => html`<li><a href="${path}">${label}</a></li>
`,
)}</ul>`
  return html`<footer class="foot">
<div class="inner">
<div class="who">
<p><strong>${name}</strong><br>${description}</p>
<p><a href="mailto:${contact}">${t('frame.help')}: ${contact}</a></p>
</div>
<nav aria-label="${t('frame.forPeople')}">
<p class="over">${t('frame.forPeople')}</p>
${links([
  ['/search', t('frame.shop')],
  ['/how-it-works', t('frame.how')],
  ['/find', t('frame.find')],
  ['/terms', t('frame.terms')],
])}
</nav>
<nav aria-label="${t('frame.forSoftware')}">
<p class="over">${t('frame.forSoftware')}</p>
${links([
  ['/#agents', t('frame.agents')],
  ['/openapi.json', t('frame.api')],
  ['/llms.txt', t('frame.models')],
  ['/ai', t('frame.discovery')],
  ['/.well-known/x402', t('frame.manifest')],
  ['/errors', t('frame.errors')],
])}
</nav>
</div>
</footer>`
}

/**
 * Headers of every page. A page loads only our own style sheet, pictures and scripts, sends forms only to us, cannot be
 * framed, and sends no referrer to other sites. It does send one to our own: without it, browsers send our own forms
 * with an origin of "null" (Fetch, 3.2).
 *
 * @param logo the URL of the operator's logo, which may be on another host
 */
export function pageHeaders(
  { scripts = [], drawsPictures }: Pick<Page, 'scripts' | 'drawsPictures'>,
  logo: string,
): Record<string, string> {
  const origins = URL.canParse(logo) ? [new URL(logo).origin] : []
  const policy = [
    "default-src 'none'",
    ...(scripts.length > 0 ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    `img-src ${["'self'", ...(drawsPictures ? ['data:'] : []), ...origins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    ...fixedHeaders,
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy':
      'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()',
  }
}

/** Headers of everything that the website serves, including pictures and styles. */
export const fixedHeaders: Readonly<Record<string, string>> = {
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}
