import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** The range of random ports. It is below the ephemeral ports, which systems use for outgoing connections. */
const lowest = 20_000
const highest = 32_000
const maxTries = 20

/**
 * A TCP port of 127.0.0.1 that is free now: the preferred one if nobody listens on it, else a random one, which on
 * Linux this function gives to no other process while this one lives. Any other program may take it before the caller
 * does, so callers must be able to ask again.
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await tryPort(preferred)) !== undefined) return preferred
  for (let tries = 0; tries < maxTries; tries += 1) {
    const port = randomInt(lowest, highest)
    // Reserve it before trying it, because a try occupies the port for a moment and could disturb the process that
    // reserved it.
    if ((await reserve(port)) && (await tryPort(port)) !== undefined) return port
  }
  const port = await tryPort(0)
  if (port === undefined) throw new Error('The system has no free port on 127.0.0.1.')
  return port
}

/**
 * Reserves a port among all callers of this function, between its choice and the start of the server there. Otherwise
 * two stores that start at the same moment could choose the same port, and the first would answer the clients of the
 * second. The reservation is a socket in Linux's abstract namespace (unix(7)), which disappears with its process.
 */
function reserve(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const reservation = createServer().unref()
  reservation.once('error', () => resolve(false))
  reservation.listen({ path: `\0kiosk402-port-${port}` }, () => resolve(true))
  return promise
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined)
      else reject(error)
    })
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address ? address.port : undefined
      server.close(() => resolve(bound))
    })
  })
}
