/** The routes in the output of Fastify's `printRoutes`, with their methods except HEAD and OPTIONS. */
export function routesIn(tree: string) {
  const parts: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', names = ''] =
      /^([│ ]*)[├└]── (\S*) ?(?:\(([A-Z, ]+)\))?$/.exec(line) ?? []
    const depth = indent.length / 4
    parts.splice(depth, parts.length, part)
    const methods = names.split(', ').filter((name) => !['', 'HEAD', 'OPTIONS'].includes(name))
    return methods.length === 0 ? [] : [{ route: parts.join('').replace(/(.)\/$/, '$1'), methods }]
  })
}
