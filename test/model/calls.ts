/** A call that ended without an answer. Only these may make the store report a failed step. */
export class Injected extends Error {}

/** One process of the store. It is lost with everything in its memory when it dies. */
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

/** The calls that change something outside the process. The others only read. */
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
])
/** What can still arrive after whoever sent it stopped waiting for the answer. */
export const mayArriveLate = new Set(['collect', 'payBack', 'place', 'cancel'])

/** The word for "no answer in time" of the calls that have one; the others throw. */
export const unanswered: Readonly<Record<string, unknown>> = {
  check: { outcome: 'unknown', reason: 'timeout' },
  collect: { outcome: 'unknown', reason: 'timeout' },
  confirmationOf: 'unknown',
  payBack: { outcome: 'pending', reason: 'timeout' },
  place: { outcome: 'unknown', reason: 'timeout' },
  lookup: { outcome: 'unknown', reason: 'timeout' },
  cancel: { outcome: 'unknown', reason: 'timeout' },
  knowsIccid: 'unknown',
}
