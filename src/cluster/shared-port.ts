import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

/** A worker that serves connections. */
export interface ConnectionReceiver {
  /** Resolves to whether the worker has taken over the connection. @throws when the worker exits first */
  receive(connection: Socket): Promise<boolean>
}

export interface SharedPort {
  /** @throws Node's error when the port is taken */
  listen(at: { readonly host: string; readonly port: number }): Promise<void>
  /** Hands connections to this worker until it refuses one or is removed. */
  add(receiver: ConnectionReceiver): void
  remove(receiver: ConnectionReceiver): void
  /** Closes the port as soon as the last worker is removed. */
  close(): void
}

/** Node's default for the listen backlog. Further connections are closed at once. */
const maxWaitingConnections = 511

/**
 * The port of all workers. The primary accepts connections and serves none, so the port outlives every
 * worker: a client that connects while no worker runs waits instead of being refused. Workers get
 * connections in turn, one at a time. The primary keeps each connection until the worker confirms it, so
 * that no connection is lost with a worker that dies during the handoff.
 */
export function openSharedPort(): SharedPort {
  const servers: Server[] = []
  const waiting: Socket[] = []
  const receivers = new Set<ConnectionReceiver>()
  const free: ConnectionReceiver[] = []
  let isClosing = false

  function distribute(): void {
    while (waiting.length > 0) {
      const receiver = free.shift()
      if (receiver === undefined) break
      if (receivers.has(receiver)) void handTo(receiver, waiting.shift() as Socket)
    }
  }

  async function handTo(receiver: ConnectionReceiver, connection: Socket): Promise<void> {
    if (await receiver.receive(connection).catch(() => false)) {
      connection.destroy()
      free.push(receiver)
    } else {
      waiting.unshift(connection)
      remove(receiver)
    }
    distribute()
  }

  function remove(receiver: ConnectionReceiver): void {
    receivers.delete(receiver)
    closeWithLast()
  }

  function closeWithLast(): void {
    if (!isClosing || receivers.size > 0) return
    for (const server of servers) server.close()
    for (const connection of waiting.splice(0)) connection.destroy()
  }

  function createAcceptor(): Server {
    const options = { pauseOnConnect: true, allowHalfOpen: true, noDelay: true }
    const server = createServer(options, (connection) => {
      waiting.push(connection)
      distribute()
    })
    server.maxConnections = maxWaitingConnections
    // The process has run out of file descriptors; accepting works again once one is free.
    server.on('error', () => undefined)
    return server
  }

  return {
    async listen({ host, port }) {
      const [first = host, ...others] = await addressesOf(host)
      await listenAt(createAcceptor(), first, port, servers)
      // A host name may also resolve to an address that this machine does not have.
      for (const other of others) {
        await listenAt(createAcceptor(), other, port, servers).catch(() => undefined)
      }
    },
    add(receiver) {
      receivers.add(receiver)
      free.push(receiver)
      distribute()
    },
    remove,
    close() {
      isClosing = true
      closeWithLast()
    },
  }
}

/** On most machines `localhost` has an IPv4 and an IPv6 address, and clients use either. */
async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host]
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

async function listenAt(server: Server, host: string, port: number, servers: Server[]) {
  server.listen({ host, port })
  await once(server, 'listening')
  servers.push(server)
}
