import type { FastifyInstance } from 'fastify'

/** Names of this machine. A page that uses DNS rebinding calls it by another name. */
const ownNames = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/** Refuses requests from foreign web pages: those with another host name, or from another origin. */
export function answerOnlyHere(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers: { host = '', origin } }, reply) => {
    const isOwn = origin === undefined || ownNames.test(origin.replace(/^https?:\/\//, ''))
    if (ownNames.test(host) && isOwn) return
    return reply.code(403).send({ error: 'The sandbox answers this machine alone.' })
  })
}
