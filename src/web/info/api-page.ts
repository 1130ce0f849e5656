import Fastify, { type FastifyInstance } from 'fastify'
import { digestOf, type FixedText, fixedText, publicMinute, sendText } from '../../http/caching.ts'
import type { WebDeps } from '../frame/deps.ts'
import { html, textOf } from '../frame/html.ts'
import { apiPageHeaders, fixedHeaders } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'

/** Where people read the API. */
const apiPagePath = '/docs/api'

const scriptPath = `${apiPagePath}/reference.js`
const startPath = `${apiPagePath}/start.js`
const limited = { config: { limit: 'reading' } } as const
const publicDay = 'public, max-age=86400'

/**
 * The page that documents the API, made from `/openapi.json` in the browser by the script of Scalar. The store serves
 * that script itself, and it sends requests only to the store.
 */
export function routeApiPage(app: FastifyInstance, { site, t }: Pick<WebDeps, 'site' | 't'>): void {
  let script: Promise<FixedText> | undefined
  app.get(apiPagePath, limited, async (request, reply) => {
    script ??= referenceScript()
    reply.headers(apiPageHeaders())
    const text = page(site.name, t, (await script).digest)
    return sendText(request, reply, { text, type: 'text/html', cacheControl: publicMinute })
  })
  app.get(scriptPath, limited, async (request, reply) => {
    script ??= referenceScript()
    reply.headers(fixedHeaders)
    const sent = { ...(await script), type: 'text/javascript', cacheControl: publicDay }
    return sendText(request, reply, sent)
  })
  app.get(startPath, limited, (request, reply) => {
    reply.headers(fixedHeaders)
    return sendText(request, reply, {
      text: start,
      type: 'text/javascript',
      cacheControl: publicDay,
    })
  })
}

/**
 * The script of the page. Its package offers it only as a Fastify plugin, so a temporary server reads it out. It has
 * four megabytes, so it is read at the first request.
 */
async function referenceScript(): Promise<FixedText> {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  try {
    await app.register(plugin, { routePrefix: '/reference', configuration: { url: '/' } })
    return fixedText((await app.inject('/reference/js/scalar.js')).body)
  } finally {
    await app.close()
  }
}

/** Nothing from other hosts: no fonts, no telemetry, no assistants. */
const settings = {
  url: '/openapi.json',
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  hideTestRequestButton: true,
  showOperationId: true,
  documentDownloadType: 'json',
  favicon: '/logo.svg',
}

const start = `Scalar.createApiReference('#app', ${JSON.stringify(settings)})\n`

function page(name: string, t: Texts, version: string): string {
  return textOf(html`<!doctype html>
<html lang="${t.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${t('api.title')} · ${name}</title>
<link rel="icon" href="/logo.svg" type="image/svg+xml">
</head>
<body>
<div id="app"></div>
<noscript>${t('api.noScript', { link: (path) => html`<a href="/openapi.json">${path}</a>` })}</noscript>
<script src="${scriptPath}?v=${version}"></script>
<script src="${startPath}?v=${digestOf(start)}"></script>
</body>
</html>
`)
}
