/** The error of an injected fault. Only these may make the store report a failed step. */
export class Injected extends Error {}

/** One process of the store. When it dies, everything in its memory is lost. */
export interface Node {
  readonly id: number
  readonly stopping: AbortController
  readonly death: Promise<'died'>
  readonly die: () => void
  dead: boolean
}

export function newNode(id: number): Node {
  const { promise, resolve } = Promise.withResolvers<'died'>()
  const node: Node = {
    id,
    stopping: new AbortController(),
    death: promise,
    dead: false,
    die() {
      node.dead = true
      resolve('died')
    },
  }
  return node
}

/** The calls that change something outside the process; all others only read. */
export const writes = new Set([
  'open',
  'move',
  'release',
  'claimDue',
  'claimRefund',
  'collect',
  'payBack',
  'place',
  'cancel',
  'post',
  'end',
])
/** The calls that can still arrive after their caller stopped waiting. */
export const mayArriveLate = new Set(['collect', 'payBack', 'place', 'cancel', 'post'])

/** The result for "no answer in time" of the calls that have one; all others throw. */
export const unanswered: Readonly<Record<string, unknown>> = {
  check: { outcome: 'unknown', reason: 'timeout' },
  collect: { outcome: 'unknown', reason: 'timeout' },
  confirmationOf: 'unknown',
  payBack: { outcome: 'pending', reason: 'timeout' },
  place: { outcome: 'unknown', reason: 'timeout' },
  lookup: { outcome: 'unknown', reason: 'timeout' },
  cancel: { outcome: 'unknown', reason: 'timeout' },
  knowsIccid: 'unknown',
  post: { failure: 'timeout' },
}

/** Has each call of a port go through `call`, which runs it, or not. */
export function intercepted<T extends object>(
  port: T,
  call: (method: string, run: () => Promise<unknown>, given: readonly unknown[]) => unknown,
): T {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: readonly unknown[]) =>
        call(String(name), async () => member.apply(target, given), given)
    },
  })
}
