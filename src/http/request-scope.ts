import { AsyncLocalStorage } from 'node:async_hooks'

const scope = new AsyncLocalStorage<string>()

/** Runs the work of a request, so that whatever it calls or starts knows the id of the request. */
export function withinRequest(id: string, work: () => void): void {
  scope.run(id, work)
}

/** The id of the request that is worked on; undefined in work that no request started. */
export const currentRequest = (): string | undefined => scope.getStore()
