import { AsyncLocalStorage } from 'node:async_hooks'

const scope = new AsyncLocalStorage<string>()

/** Runs the work of a request, so that all code that it calls or starts can read the id of the request. */
export function withinRequest(id: string, work: () => void): void {
  scope.run(id, work)
}

/** The id of the current request; undefined in work that no request started. */
export const currentRequest = (): string | undefined => scope.getStore()
