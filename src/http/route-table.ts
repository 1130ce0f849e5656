import type { FastifyContextConfig, FastifyInstance } from 'fastify'

/** A path that the store serves, with everything that may be done there. */
interface KnownPath {
  readonly segments: readonly string[]
  readonly methods: Set<string>
  config: FastifyContextConfig
}

export interface RouteTable {
  /** The known path that a request's path belongs to, whatever the request's method. */
  find(path: string): KnownPath | undefined
}

/** Remembers every route that is added afterwards, so that a wrong method is told from a wrong path. */
export function createRouteTable(app: FastifyInstance): RouteTable {
  const paths: KnownPath[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    if (url === '*') return
    const segments = segmentsOf(url)
    const known = paths.find((path) => path.segments.join('/') === segments.join('/'))
    const path = known ?? { segments, methods: new Set(), config: {} }
    for (const name of [method].flat()) path.methods.add(name)
    path.config = { ...path.config, ...config }
    if (known === undefined) paths.push(path)
  })
  return {
    find: (path) => {
      const segments = segmentsOf(path)
      return paths.find((known) => matches(known.segments, segments))
    },
  }
}

/** The path of a request's target, without its query and as the router reads it: percent encoding makes no other path. */
export function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    return decodeURI(path)
  } catch (error) {
    if (error instanceof URIError) return path
    throw error
  }
}

function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/')
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, at) => part === segments[at] || (part.startsWith(':') && segments[at]))
  )
}
