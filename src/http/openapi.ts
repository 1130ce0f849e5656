import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { openApiPath } from '../api/paths.ts'
import type { Site } from '../api/site.ts'
import { fixedText, publicMinute, sendText } from './caching.ts'

/** The paths at which clients look for the OpenAPI document. */
const openApiPaths = [openApiPath, '/ai/openapi.json'] as const

export interface OpenApiDeps {
  readonly site: Site
  /** The contract address of the token that is paid. */
  readonly asset: string
}

/**
 * Serves the OpenAPI document of this store, with one example for each operation and each error, or with all
 * recorded examples for `?examples=full`.
 */
export function routeOpenApi(app: FastifyInstance, deps: OpenApiDeps): void {
  const file = readFileSync(fileOf('openapi.json'), 'utf8')
  const brief = fixedText(JSON.stringify(openApiFor(deps, file)))
  let full: typeof brief | undefined
  const fullOnce = () => {
    full ??= fixedText(JSON.stringify(withExamples(deps, file)))
    return full
  }
  for (const path of openApiPaths) {
    app.get(path, { config: { limit: 'reading' } }, (request, reply) => {
      const isFull = new URL(request.url, deps.site.url).searchParams.get('examples') === 'full'
      const found = isFull ? fullOnce() : brief
      return sendText(request, reply, { ...found, cacheControl: publicMinute })
    })
  }
}

const fileOf = (name: string) => new URL(`../../${name}`, import.meta.url)

interface Document {
  info: object
  servers: [{ url: string }]
  paths: Record<string, Record<string, Described>>
}
interface Described {
  operationId: string
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
  'x-payment-info'?: { offers: { currency: string }[] }
}
type Content = Record<string, { examples?: Record<string, object> }>

/** The checked-in document, with the address and the data of this store. */
function openApiFor({ site, asset }: OpenApiDeps, file: string): Document {
  const document: Document = JSON.parse(namedAs(site.url, file, file))
  for (const operation of operationsOf(document)) {
    for (const offer of operation['x-payment-info']?.offers ?? []) offer.currency = asset
  }
  const { name, description, contact, url } = site
  const info = {
    ...document.info,
    title: name,
    description,
    contact: { name, email: contact, url },
  }
  return { ...document, info }
}

const operationsOf = ({ paths }: Document) => Object.values(paths).flatMap(Object.values<Described>)

/** An example of an operation in `openapi/examples.json`. */
interface Example {
  readonly name: string
  readonly summary: string
  readonly status: number
  readonly sent?: unknown
  readonly body: unknown
}

function withExamples(deps: OpenApiDeps, file: string): Document {
  const document = openApiFor(deps, file)
  const text = readFileSync(fileOf('openapi/examples.json'), 'utf8')
  const recorded: Record<string, Example[]> = JSON.parse(namedAs(deps.site.url, text, file))
  for (const { operationId, requestBody, responses } of operationsOf(document)) {
    for (const { name, summary, status, sent, body } of recorded[operationId] ?? []) {
      addExample(responses[status]?.content, name, { summary, value: body })
      if (sent !== undefined && status < 400) {
        addExample(requestBody?.content, name, { summary, value: sent })
      }
    }
  }
  return document
}

function addExample(content: Content = {}, name: string, example: object): void {
  for (const media of Object.values(content))
    media.examples = { ...media.examples, [name]: example }
}

/** The text with the URL and the host of the document's server replaced by those of this store. */
function namedAs(url: string, text: string, file: string): string {
  const [spokenOf] = (JSON.parse(file) as Document).servers
  const { host } = new URL(url)
  const hostThere = new URL(spokenOf.url).host
  // URLs and hosts in one pass: a URL that was just inserted must not be replaced again.
  return text
    .split(spokenOf.url)
    .map((part) => part.replaceAll(hostThere, host))
    .join(url)
}
