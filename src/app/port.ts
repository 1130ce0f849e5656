import { once } from 'node:events'
import { createServer } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'

/**
 * Takes the port before anything else starts, and answers 503 until the store is ready.
 *
 * @throws ConfigError when it is taken
 */
export async function holdPort({ host, port }: Pick<Config, 'host' | 'port'>) {
  const holder = createServer((_, response) => {
    // A connection that is kept alive would stay with the holder.
    response.writeHead(503, { connection: 'close', 'retry-after': '1' }).end('Starting\n')
  })
  try {
    holder.listen({ host, port })
    await once(holder, 'listening')
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw taken
      ? new ConfigError([`PORT ${port} is taken on ${host}; set another one`], true)
      : error
  }
  return {
    /** Hands the listening socket over, so that the port is never free. */
    async handTo(app: FastifyInstance) {
      await app.ready()
      app.server.listen(holder)
      await once(app.server, 'listening')
    },
  }
}
