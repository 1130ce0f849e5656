import type { FastifyContextConfig, FastifyInstance } from 'fastify'

interface KnownPath {
  readonly segments: readonly string[]
  readonly methods: Set<string>
  config: FastifyContextConfig
}

export interface RouteTable {
  /** The known path that matches the path of a request, whatever its method. */
  find(path: string): KnownPath | undefined
}

/** Records every route that is added afterwards, to distinguish a wrong method from a wrong path. */
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

/** The path of a request's target, without its query and decoded, as the router reads it. */
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
