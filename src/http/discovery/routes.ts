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
    (read: (url: string, deps: ReadDeps) => Question) =>
    (request: FastifyRequest, reply: FastifyReply) => {
      const url = request.raw.url ?? ''
      const found = answers.find(request.routeOptions.url ?? '', url, () => read(url, deps))
      return sendAnswer(request, reply, { found, cacheControl: publicMinute })
    }
  const limited = { config: { limit: 'discovery' } } as const
  app.get(paths.index, answering(serviceIndex))
  app.get(paths.capabilities, limited, answering(capabilities))
  app.get(paths.vouchers, limited, answering(searchVouchers))
  app.get(paths.topups, limited, answering(searchTopups))
  app.get(paths.esims, limited, answering(searchEsims))
}
