import { z } from 'zod'

/**
 * How the server misbehaves, for tests. `only` limits this to requests whose method and path, as in
 * "POST /api/v1/stores/…", contain the text. After `times` such requests the server behaves normally again.
 * - `error`: answers 500 and does nothing. `drop`: cuts the connection and does nothing.
 * - `hang`: accepts the request and never answers. `slow`: answers after `delayMs`.
 * - `proxy`: a proxy in front of the server answers 403 with its own page; nothing is done.
 * - `lose`: does what was requested, then cuts the connection without an answer.
 */
export const faultSchema = z.object({
  mode: z.enum(['error', 'drop', 'hang', 'slow', 'lose', 'proxy']),
  times: z.int().min(1).max(1_000_000).default(1),
  only: z.string().default(''),
  delayMs: z.int().min(0).max(600_000).default(2_000),
})

/**
 * What happens to the next webhook deliveries: `lose` does not send them, `double` sends each twice. `only` limits
 * this to deliveries whose type contains the text.
 */
export const webhookFaultSchema = z.object({
  mode: z.enum(['lose', 'double']),
  times: z.int().min(1).max(1_000_000).default(1),
  only: z.string().default(''),
})

interface Limited {
  readonly only: string
  readonly times: number
}

function createQueue<T extends Limited>() {
  let queue: readonly T[] = []
  return {
    list: () => queue,
    add(fault: T): void {
      queue = [...queue, fault]
    },
    /** The fault for this request; counts it as used once. */
    take(subject: string): T | undefined {
      const found = queue.find(({ only }) => subject.includes(only))
      const left = found && found.times > 1 ? [{ ...found, times: found.times - 1 }] : []
      queue = queue.flatMap((fault) => (fault === found ? left : [fault]))
      return found
    },
    clear(): void {
      queue = []
    },
  }
}

export function createFaults() {
  return {
    requests: createQueue<z.infer<typeof faultSchema>>(),
    webhooks: createQueue<z.infer<typeof webhookFaultSchema>>(),
  }
}

export type Faults = ReturnType<typeof createFaults>
