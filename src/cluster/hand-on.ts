import type { Worker } from 'node:cluster'

/** What Node's cluster module writes to a worker with a connection, and what the worker says to it. */
interface Internal {
  readonly cmd?: unknown
  readonly act?: unknown
  readonly seq?: unknown
  readonly ack?: unknown
}

/**
 * Gives the connections that a worker was handed and died before it took to another worker. Node does
 * so only where a worker says that it takes no more; one that is dead says nothing, and its client
 * would wait for an answer until it gives up by itself.
 *
 * Node has no interface for this. What its two ends say to each other is listened to, and the dead one
 * is spoken for; should a release of Node say it in other words, this finds nothing and does nothing.
 */
export function handOnUntaken({ process: child }: Worker): void {
  const untaken = new Set<unknown>()
  const send = child.send as (...args: unknown[]) => boolean
  child.send = ((...args: unknown[]) => {
    const { act, seq } = args[0] as Internal
    if (act === 'newconn') untaken.add(seq)
    return send.apply(child, args)
  }) as typeof child.send
  child.on('internalMessage', ({ ack }: Internal) => untaken.delete(ack))
  child.once('exit', () => {
    for (const ack of untaken) {
      child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false })
    }
  })
}
