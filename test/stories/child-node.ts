import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { NodeSettings } from '../harness/node.ts'
import { type Store, siblingSettings } from './store.ts'

export type ChildNode = Awaited<ReturnType<typeof startChild>>

interface ChildOptions {
  readonly env?: Record<string, string>
  /** Other ways to the outside than those of the store. */
  readonly through?: Partial<Pick<NodeSettings, 'rpcUrl' | 'supplierUrl' | 'databaseUrl'>>
}

/** Another node of the store in a process of its own, which can be killed or made to stand still. */
export async function startChild(store: Store, { env, through }: ChildOptions = {}) {
  const settings = { ...(await siblingSettings(store, env)), ...through }
  const script = fileURLToPath(new URL('../harness/node-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(settings))
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  expect(String(line)).toBe('ready\n')
  return {
    url: settings.url,
    standStill: () => child.kill('SIGSTOP'),
    goOn: () => child.kill('SIGCONT'),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** What a lease is for: whoever held it is dead, and nobody else may go on before it ends. */
export async function endLease(store: Pick<Store, 'query'>, orderId: string): Promise<void> {
  await store.query(
    'update orders set locked_until = now(), due_at = now() where id = $1 and due_at is not null',
    [orderId],
  )
}
