import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { digestOf, sendAnswer } from '../../http/caching.ts'
import { fixedText } from '../../http/fixed-text.ts'
import { fixedHeaders } from './page-headers.ts'

const folder = new URL('../scripts/', import.meta.url)
const type = 'text/javascript'
/** A script's address names its content, so it may be kept while that address is in use. */
const publicDay = 'public, max-age=86400'

/** Gives the address of a script by its name: "live.js". It changes when the script does. */
export type ScriptUrls = (name: string) => string

/** Serves every script that browsers run as it is written. */
export function routeScripts(app: FastifyInstance): ScriptUrls {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const urls = new Map(
    names.map((name) => [
      name,
      routeScript(app, name, readFileSync(new URL(name, folder), 'utf8')),
    ]),
  )
  return (name) => {
    const url = urls.get(name)
    if (url === undefined) throw new Error(`there is no script ${name}`)
    return url
  }
}

/** Serves one script. Its smaller forms are made at once, so that even the first visitor gets them. */
export function routeScript(app: FastifyInstance, name: string, text: string): string {
  const found = fixedText(text)
  found.smaller('br')
  found.smaller('gzip')
  app.get(`/${name}`, (request, reply) => {
    reply.headers(fixedHeaders)
    return sendAnswer(request, reply, { found, type, cacheControl: publicDay })
  })
  return `/${name}?v=${digestOf(text)}`
}
