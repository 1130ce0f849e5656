import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { routeNamed } from './named-asset.ts'

const folder = new URL('../scripts/', import.meta.url)

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

/** Serves one script, and gives its address. */
export function routeScript(app: FastifyInstance, name: string, text: string): string {
  return routeNamed(app, `/${name}`, { text, type: 'text/javascript' })
}
