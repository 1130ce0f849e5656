import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { publicMinute, sendCacheable } from '../caching.ts'
import type { ReadDeps } from '../deps.ts'
import type { Published } from '../views/discovery-offer.ts'
import { capabilities } from './capabilities.ts'
import { searchEsims } from './esims.ts'
import { paths } from './paths.ts'
import { serviceIndex } from './service-index.ts'
import { searchTopups } from './topups.ts'
import { searchVouchers } from './vouchers.ts'

/** The discovery interface (service.md): read-only, for anyone, over everything that is sold. */
export function routeDiscovery(app: FastifyInstance, deps: ReadDeps): void {
  const answering =
    (answer: (url: string, deps: ReadDeps) => Published) =>
    (request: FastifyRequest, reply: FastifyReply) => {
      const body = answer(request.raw.url ?? '', deps)
      return sendCacheable(request, reply, { body, cacheControl: publicMinute })
    }
  const limited = { config: { limit: 'discovery' } } as const
  app.get(paths.index, answering(serviceIndex))
  app.get(paths.capabilities, limited, answering(capabilities))
  app.get(paths.vouchers, limited, answering(searchVouchers))
  app.get(paths.topups, limited, answering(searchTopups))
  app.get(paths.esims, limited, answering(searchEsims))
}
