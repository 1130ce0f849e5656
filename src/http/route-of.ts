import type { Operation } from '../api/operation.ts'

/** The path of an operation as the router writes it: `{id}` is `:id` there. */
export function routeOf({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
