import * as z from 'zod'
import { names } from '../../catalog/kinds/kind.ts'
import { goods } from '../../catalog/kinds.ts'
import { byPlural } from '../../catalog/offer.ts'
import { slugOf } from '../../lib/text.ts'
import {
  answers,
  catalogPrefix,
  discoveryPath,
  discoveryPrefix,
  freely,
  inDiscovery,
  manifestPath,
  mcpPath,
  offerPath,
  openApiPath,
  paymentsTaken,
  type Reading,
  searchPath,
  skillPath,
} from '../operation.ts'

export const discoveryVersion = '1.0.0'

const version = z.string().describe('Of the discovery interface')
const capabilitiesPath = `${discoveryPrefix}/capabilities`

const Payments = z
  .object({
    agents: z
      .object({
        methods: names.describe('usdc-base: USDC on Base'),
        protocol: z.literal('x402'),
        network: z.string().describe('CAIP-2'),
        asset: z.string().describe('Contract address of USDC'),
      })
      .describe('In the purchase calls and over MCP, at once'),
    website: names.describe('What people pay with on the website, at the moment'),
  })
  .meta({ id: 'Payments', description: 'What is taken, in each interface.' })

const ServiceIndex = z
  .object({
    version,
    name: z.string(),
    description: z.string(),
    accepts_crypto: names.describe('Coins that people pay with on the website'),
    payments: Payments,
    delivery: z.string(),
    website: z.url(),
    search: z.string().describe('Where all kinds are searched by one question'),
    catalogs: z.object(byPlural(() => z.string())),
    capabilities: z.string(),
    offers: z
      .object(byPlural(() => z.string()))
      .describe('The record of an offer, which names the call that buys it'),
    catalog: z.string(),
    manifest: z.string(),
    mcp: z.string(),
    openapi: z.string(),
    skill: z.string().describe('How an agent buys here, on one page'),
    llms: z.string(),
  })
  .meta({ id: 'ServiceIndex' })

export const serviceIndex: Reading = {
  ...freely({
    id: 'serviceIndex',
    path: discoveryPrefix,
    name: 'Where everything is',
    description:
      'The name of the store, the paths of its searches, and the way from an offer to buying it: its record in offers names the call. Not counted against any limit.',
    answers: answers('The index', ServiceIndex),
    ask(_, { site, network, pricing, takesCoins = () => true }) {
      const { coins, takesUsdc } = paymentsTaken({ site, pricing })
      return {
        version: discoveryVersion,
        name: site.name,
        description: site.description,
        accepts_crypto: coins,
        payments: {
          agents: {
            methods: takesUsdc ? [`usdc-${slugOf(network.name)}`] : [],
            protocol: 'x402',
            network: network.id,
            asset: network.usdc,
          },
          website: [...(takesUsdc ? ['USDC'] : []), ...(takesCoins() ? coins : [])],
        },
        delivery: 'instant',
        website: site.url,
        search: searchPath,
        catalogs: byPlural(discoveryPath),
        capabilities: capabilitiesPath,
        offers: byPlural((kind) => offerPath(kind, '{offerId}')),
        catalog: catalogPrefix,
        manifest: manifestPath,
        mcp: mcpPath,
        openapi: openApiPath,
        skill: skillPath,
        llms: '/llms.txt',
      }
    },
  }),
  group: 'Discovery',
}

const Capabilities = z
  .object({
    version,
    accepts_crypto: names,
    delivery: z.string(),
    no_account_required: z.boolean(),
    ...byPlural((kind) =>
      z.object({ ...goods[kind].published.capabilities, query_url: z.string() }),
    ),
  })
  .meta({ id: 'Capabilities' })

export const capabilities = inDiscovery({
  id: 'capabilities',
  path: capabilitiesPath,
  name: 'What can be searched for',
  description:
    'Every country, region, brand and sub-type that a search finds something with, and the currencies that the store takes from people.',
  answers: answers('All values', Capabilities),
  ask(_, { liveCatalog, ...deps }) {
    const { sold } = liveCatalog.current()
    return {
      version: discoveryVersion,
      accepts_crypto: paymentsTaken(deps).coins,
      delivery: 'instant',
      no_account_required: true,
      ...byPlural((kind) => ({
        ...goods[kind].capabilitiesIn(sold[kind]),
        query_url: discoveryPath(kind),
      })),
    }
  },
})
