import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { IpcPeer } from './ipc.ts'

/**
 * Makes the app serve the connections that the primary accepts and hands over. The app's own server
 * never listens, so this function does two things that Node does for a listening server: it emits
 * `listening`, which starts the request timeouts, and it delays closing until all connections have ended.
 */
export async function serveHandedOffConnections(
  app: FastifyInstance,
  ipc: Pick<IpcPeer, 'handle'>,
): Promise<void> {
  const open = new Set<Socket>()
  const idle = Promise.withResolvers<void>()
  let isClosing = false

  function resolveWhenIdle(): void {
    if (isClosing && open.size === 0) idle.resolve()
  }

  ipc.handle('connection', (_, connection) => {
    // Destroying it closes only this process's handle; the primary keeps its own until it gets the answer.
    if (isClosing) connection?.destroy()
    else if (connection !== undefined) serve(connection)
    return !isClosing
  })

  function serve(connection: Socket): void {
    open.add(connection)
    connection.once('close', () => {
      open.delete(connection)
      resolveWhenIdle()
    })
    // Node's HTTP server sets this on its own connections.
    connection.allowHalfOpen = true
    app.server.emit('connection', connection)
  }

  // Hooks run in the order of their plugins: earlier ones end event streams, which would never end by themselves.
  app.register(async (last) => {
    last.addHook('preClose', () => {
      isClosing = true
      resolveWhenIdle()
      return idle.promise
    })
  })
  await app.ready()
  app.server.emit('listening')
}
