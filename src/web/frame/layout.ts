import type { Site } from '../../desk/site.ts'
import type { Texts } from '../texts/en.ts'
import { dataBlock, type Html, html, textOf } from './html.ts'

/** What every page needs to know besides its own content. */
export interface Frame {
  readonly site: Site
  /** The address of the style sheet; it changes when the sheet does. */
  readonly styleUrl: string
  /** Whether all money and goods here are for trying only. */
  readonly isSandbox: boolean
  /** Every sentence, in the language of the store. */
  readonly texts: Texts
}

export interface Page {
  readonly title: string
  /** For search engines and previews; one or two sentences. */
  readonly description: string
  /** Where the page lives, "/buy/AMZ"; absent on pages that stand for no address of their own. */
  readonly path?: string
  /** Further Open Graph properties. */
  readonly openGraph?: Readonly<Record<string, string>>
  /** Data for search engines (schema.org). */
  readonly data?: object
  /** What further stands in the head. */
  readonly head?: Html
  readonly main: Html
}

/** The whole document of a page. */
export function document(frame: Frame, page: Page): string {
  const { site, styleUrl, texts } = frame
  const title = page.title === site.name ? site.name : `${page.title} · ${site.name}`
  return textOf(html`<!doctype html>
<html lang="${texts.frame.language}">
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
${addressTags(frame, page)}
${page.data && dataBlock(page.data)}
${page.head}
</head>
<body>
<a class="skip" href="#main">${texts.frame.skip}</a>
${header(frame)}
<main id="main" tabindex="-1">
${page.main}
</main>
${footer(frame)}
</body>
</html>
`)
}

/** What only a page with an address of its own says: nobody should link to or keep an error. */
function addressTags({ site, texts }: Frame, page: Page): Html {
  if (page.path === undefined) return html`<meta name="robots" content="noindex">`
  const url = `${site.url}${page.path}`
  const properties = {
    'og:type': 'website',
    'og:site_name': site.name,
    'og:title': page.title,
    'og:description': page.description,
    'og:url': url,
    'og:image': site.logo,
    'og:locale': texts.frame.locale,
    ...page.openGraph,
  }
  return html`<link rel="canonical" href="${url}">
${Object.entries(properties).map(
  ([property, content]) => html`<meta property="${property}" content="${content}">
`,
)}<meta name="twitter:card" content="summary">`
}

function header({ site: { name, logo }, isSandbox, texts: { frame: texts } }: Frame): Html {
  return html`<header>
${isSandbox && html`<p class="sandbox">${texts.sandbox}</p>`}
<div class="awning"></div>
<div class="bar">
<a class="store" href="/"><img src="${logo}" alt="" width="36" height="36"><span>${name}</span></a>
<nav aria-label="${texts.navigation}">
<a href="/#catalog">${texts.catalog}</a>
<a href="/#agents">${texts.agents}</a>
</nav>
</div>
</header>`
}

function footer({ site: { name, contact, description }, texts: { frame: texts } }: Frame): Html {
  return html`<footer class="foot">
<div class="inner">
<p><strong>${name}</strong><br>${description}</p>
<nav aria-label="${texts.footer}">
<a href="/">${texts.home}</a>
<a href="/ai">${texts.discovery}</a>
<a href="/.well-known/x402">${texts.manifest}</a>
<a href="/docs/api">${texts.api}</a>
<a href="/llms.txt">${texts.models}</a>
<a href="/errors">${texts.errors}</a>
<a href="mailto:${contact}">${texts.help}: ${contact}</a>
</nav>
</div>
</footer>`
}
