import type { FastifyInstance } from 'fastify'

/** Names of this machine. A page whose own name was pointed here would call it by that name. */
const ownNames = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/** Refuses what web pages of others send: by another name of this machine, or from another origin. */
export function answerOnlyHere(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers: { host = '', origin } }, reply) => {
    const isOwn = origin === undefined || ownNames.test(origin.replace(/^https?:\/\//, ''))
    if (ownNames.test(host) && isOwn) return
    return reply.code(403).send({ error: 'The sandbox answers this machine alone.' })
  })
}
