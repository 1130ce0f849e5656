import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below what systems take for connections that go out, which come and go all the time. */
const lowest = 20_000
const highest = 32_000
const maxTries = 20

/**
 * A TCP port of 127.0.0.1 that is free now: the preferred one if nobody listens there, else one by
 * chance, which on Linux no other process is given here while this one lives. Any other program may
 * take it before the caller does, so callers must be able to ask again.
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await tryPort(preferred)) !== undefined) return preferred
  for (let tries = 0; tries < maxTries; tries += 1) {
    const port = randomInt(lowest, highest)
    // Reserved before it is tried: trying takes the port for a moment from the one who has reserved it.
    if ((await reserve(port)) && (await tryPort(port)) !== undefined) return port
  }
  const port = await tryPort(0)
  if (port === undefined) throw new Error('The system has no free port on 127.0.0.1.')
  return port
}

/**
 * Keeps a port from everybody who asks here, between its choice and the start of what listens there: two
 * stores that start at the same moment would else now and then choose the same one, and a client of the
 * second would be answered by the first. A socket in Linux's abstract namespace (unix(7)) goes with its process.
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
