import { Manifest, SandboxInfo } from './answers.ts'
import { newBuyer } from './buyer.ts'
import type { Demo } from './demo.ts'
import { StoreRefusal, storeAt } from './store.ts'

/**
 * Finds the store and makes a wallet on its chain.
 *
 * @throws Error if nothing answers, if it is not a store, or if it is not a sandbox: the demo uses test money only
 */
export async function connect(url: string): Promise<Omit<Demo, 'tell' | 'wait'>> {
  const store = storeAt(url)
  const { body: manifest } = await store.get('/.well-known/x402', Manifest)
  const { body: sandbox } = await store.get('/sandbox', SandboxInfo).catch((error: unknown) => {
    if (!(error instanceof StoreRefusal) || error.status !== 404) throw error
    const message = `The store at ${url} is not a sandbox, and this demo plays with test money only.`
    throw new Error(`${message} Start a sandbox with: npm start`)
  })
  return { store, manifest, sandbox, buyer: newBuyer(sandbox) }
}
