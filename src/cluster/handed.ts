import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Line } from './line.ts'

/**
 * Has the app serve the connections that the primary accepts and hands over. Its own server never
 * listens, which is why two things are done here that Node does for one that does: it looks for late
 * requests from the event on that says it listens, and its end waits for the connections it has.
 */
export async function serveHanded(app: FastifyInstance, line: Pick<Line, 'answer'>): Promise<void> {
  const open = new Set<Socket>()
  const allEnded = Promise.withResolvers<void>()
  let isClosing = false

  function endedWithLast(): void {
    if (isClosing && open.size === 0) allEnded.resolve()
  }

  line.answer('take', (_, connection) => {
    // The primary keeps its own end of a connection until it is told.
    if (isClosing) connection?.destroy()
    else if (connection !== undefined) serve(connection)
    return !isClosing
  })

  function serve(connection: Socket): void {
    open.add(connection)
    connection.once('close', () => {
      open.delete(connection)
      endedWithLast()
    })
    // As a server of HTTP makes its own.
    connection.allowHalfOpen = true
    app.server.emit('connection', connection)
  }

  // The hooks of plugins come in their order, and those before this one end what would go on for ever.
  app.register(async (last) => {
    last.addHook('preClose', () => {
      isClosing = true
      endedWithLast()
      return allEnded.promise
    })
  })
  await app.ready()
  app.server.emit('listening')
}
