import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

/** Who serves connections. */
export interface Taker {
  /** Comes with whether it has the connection. @throws when it ends before it says so */
  take(connection: Socket): Promise<boolean>
}

export interface Port {
  /** @throws what Node throws where it is taken */
  listen(at: { readonly host: string; readonly port: number }): Promise<void>
  /** Has the taker serve, until it refuses a connection or is gone. */
  join(taker: Taker): void
  gone(taker: Taker): void
  /** No taker joins any more: closes with the last one. */
  end(): void
}

/** As many as Node lets the system keep before they are accepted. On top of that one is closed at once. */
const maxWaiting = 511

/**
 * The port of all workers. This process accepts and serves nothing, so the port outlives every
 * worker: who comes while there is none waits, instead of being refused. Each worker gets one
 * connection at a time, in turn; it stays here until the worker says that it has it, so that one
 * which dies meanwhile takes nobody along.
 */
export function openPort(): Port {
  const servers: Server[] = []
  const waiting: Socket[] = []
  const takers = new Set<Taker>()
  const free: Taker[] = []
  let isEnding = false

  function handOut(): void {
    while (waiting.length > 0) {
      const taker = free.shift()
      if (taker === undefined) break
      if (takers.has(taker)) void give(taker, waiting.shift() as Socket)
    }
  }

  async function give(taker: Taker, connection: Socket): Promise<void> {
    if (await taker.take(connection).catch(() => false)) {
      connection.destroy()
      free.push(taker)
    } else {
      waiting.unshift(connection)
      gone(taker)
    }
    handOut()
  }

  function gone(taker: Taker): void {
    takers.delete(taker)
    closeWithLast()
  }

  function closeWithLast(): void {
    if (!isEnding || takers.size > 0) return
    for (const server of servers) server.close()
    for (const connection of waiting.splice(0)) connection.destroy()
  }

  function accepting(): Server {
    const options = { pauseOnConnect: true, allowHalfOpen: true, noDelay: true }
    const server = createServer(options, (connection) => {
      waiting.push(connection)
      handOut()
    })
    server.maxConnections = maxWaiting
    // Without a free descriptor nobody can be accepted just now.
    server.on('error', () => undefined)
    return server
  }

  return {
    async listen({ host, port }) {
      const [first = host, ...others] = await addressesOf(host)
      await listenAt(accepting(), first, port, servers)
      // A name of this machine may have an address that it does not use.
      for (const other of others) {
        await listenAt(accepting(), other, port, servers).catch(() => undefined)
      }
    },
    join(taker) {
      takers.add(taker)
      free.push(taker)
      handOut()
    },
    gone,
    end() {
      isEnding = true
      closeWithLast()
    },
  }
}

/** `localhost` is two addresses on most machines, and a client may take either. */
async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host]
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

async function listenAt(server: Server, host: string, port: number, servers: Server[]) {
  server.listen({ host, port })
  await once(server, 'listening')
  servers.push(server)
}
