import type { FastifyInstance } from 'fastify'
import type { ReadDeps } from '../deps.ts'
import { sendDiscovery } from './answer.ts'
import { capabilities } from './capabilities.ts'
import { searchEsims } from './esims.ts'
import { serviceIndex } from './service-index.ts'
import { searchTopups } from './topups.ts'
import { searchVouchers } from './vouchers.ts'

/** The discovery interface (service.md): read-only, for anyone, over everything that is sold. */
export function routeDiscovery(app: FastifyInstance, deps: ReadDeps): void {
  const limited = { config: { limit: 'discovery' as const } }
  app.get('/ai', sendDiscovery(serviceIndex, deps))
  app.get('/ai/capabilities', limited, sendDiscovery(capabilities, deps))
  app.get('/ai/vouchers', limited, sendDiscovery(searchVouchers, deps))
  app.get('/ai/topups', limited, sendDiscovery(searchTopups, deps))
  app.get('/ai/esims', limited, sendDiscovery(searchEsims, deps))
}
