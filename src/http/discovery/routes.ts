import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerCache } from '../answer-cache.ts'
import { publicMinute, sendAnswer } from '../caching.ts'
import type { ReadDeps } from '../deps.ts'
import type { Question } from '../question.ts'
import { capabilities } from './capabilities.ts'
import { searchEsims } from './esims.ts'
import { paths } from './paths.ts'
import { serviceIndex } from './service-index.ts'
import { searchTopups } from './topups.ts'
import { searchVouchers } from './vouchers.ts'

/** The discovery interface (service.md): read-only, for anyone, over everything that is sold. */
export function routeDiscovery(
  app: FastifyInstance,
  { answers, ...deps }: ReadDeps & { readonly answers: AnswerCache },
): void {
  const answering =
    (path: string, read: (url: string, deps: ReadDeps) => Question) =>
    (request: FastifyRequest, reply: FastifyReply) => {
      const url = request.raw.url ?? ''
      const found = answers.find(path, url, () => read(url, deps))
      return sendAnswer(request, reply, { found, cacheControl: publicMinute })
    }
  const limited = { config: { limit: 'discovery' } } as const
  app.get(paths.index, answering(paths.index, serviceIndex))
  app.get(paths.capabilities, limited, answering(paths.capabilities, capabilities))
  app.get(paths.vouchers, limited, answering(paths.vouchers, searchVouchers))
  app.get(paths.topups, limited, answering(paths.topups, searchTopups))
  app.get(paths.esims, limited, answering(paths.esims, searchEsims))
}
