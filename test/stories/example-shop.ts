import { type CountryCode, getExampleNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { numberToHex } from 'viem'
import { inject } from 'vitest'
import {
  type Bought,
  bodyOf,
  newKey,
  type Outcome,
  type Place,
  type Shop,
} from '../../openapi/calls/call.ts'
import { startNodeBefore } from '../../src/adapters/chain/chain.fixture.ts'
import { type Kind, kinds } from '../../src/catalog/offer.ts'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { callerFor, eventually, get, post, purchasePath, termsOf, until } from './requests.ts'
import { limitsAt, signInFor } from './signing-in.ts'
import { letIn, openNode, openSibling, openStore, type Store, siblingSettings } from './store.ts'

/** From here nobody asks any more: the store saw too many requests. */
const busyAddress = '10.255.255.255'

export interface ExampleShop extends Shop {
  readonly urlOf: (at: Place) => string
  /** Headers that every call from there carries, once it is what its name says. */
  readonly headersOf: (at: Place) => Promise<Record<string, string>>
  /** Addresses of these stores in a text, as if it were one store at this address. */
  readonly asOne: (text: string, url: string) => string
  close(): Promise<void>
}

/** The stores that the examples of the document are asked of, each in its state. */
export async function openExampleShop(): Promise<ExampleShop> {
  const env = {
    FULFILLMENT_DEADLINE_SECONDS: '3',
    PURCHASE_WAIT_SECONDS: '4',
  }
  const [rpc, openRpc] = await Promise.all([
    startProxy(inject('parts').rpcUrl),
    startProxy(inject('parts').rpcUrl),
  ])
  const proxies = [rpc, openRpc]
  const supplierVia = async (url: string) => {
    const supplier = await startProxy(url)
    supplier.breakCalls((call) => (call.includes('/rates/') ? 'swallow' : 'none'))
    proxies.push(supplier)
    return supplier.url
  }
  const [buyer, open, away] = await Promise.all([
    newBuyer(),
    openStore({
      env,
      rpcUrl: openRpc.url,
      receivers: { resolve: async () => ['127.0.0.1'] },
      // The calls look for plans and numbers of several countries.
      offers: 600,
    }),
    openStore({ env, rpcUrl: rpc.url, supplierVia, offers: 2_500 }),
  ])
  const broken = await openSibling(open, {}, (app) => {
    app.addHook('preHandler', async () => {
      throw new Error('The catalog broke.')
    })
  })
  const dear = await openDear(open)
  const limits = limitsAt(callerFor(open))
  const limited = limits.limitedTo({ perOrderUsdc: '0.01' })
  const careful = limits.limitedTo({ approveAboveUsdc: '0.01' })
  const declining = limits.limitedTo({ approveAboveUsdc: '0.01' })
  const spent = spentBuyer(open)
  const paymentsAway = new Map<Kind, string>()
  for (const kind of kinds) paymentsAway.set(kind, await paymentAt(away, buyer, kind, bodyOf(kind)))
  await goAway(away, rpc)
  const urls: Readonly<Record<Place, string>> = {
    open: open.url,
    busy: open.url,
    away: away.url,
    broken: broken.url,
    dear: dear.url,
  }

  return {
    ...buying(open, buyer, openRpc),
    async payment(kind, body, by = 'another', amount) {
      if (by === 'away') return paymentsAway.get(kind) ?? ''
      if (by === 'declined') return declinedAt(open, await declining, kind, body)
      // What fails or is late counts against its wallet, so each has one of its own.
      const wallet = by === 'another' ? newBuyer() : { buyer, limited, careful, spent }[by]
      return paymentAt(open, await wallet, kind, body, amount)
    },
    signIn: (path, at = 'open', { method, body } = { method: 'GET' }) =>
      signInFor(callerFor({ url: urls[at] }), buyer, path, {
        method,
        ...(body && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      }),
    denied: deniedAt(open),
    unsold: (kind) => unsoldAt(away, kind),
    urlOf: (at) => urls[at],
    async headersOf(at) {
      if (at !== 'busy') return {}
      await makeBusy(open)
      return { 'x-forwarded-for': busyAddress }
    },
    asOne: (text, url) =>
      Object.values(urls).reduce((all, one) => {
        return all.replaceAll(one, url).replaceAll(new URL(one).host, new URL(url).host)
      }, text),
    async close() {
      await Promise.all([broken.close(), dear.close()])
      await Promise.all([open.close(), away.close()])
      await Promise.all(proxies.map((proxy) => proxy.close()))
    },
  }
}

/** Where chains of the OP Stack say what the data of a transaction costs. */
const gasPriceOracle = '0x420000000000000000000000000000000000000f'

/** A node of the same store that hears of its chain that the data of a transaction costs an ether. */
async function openDear(store: Store) {
  const settings = await siblingSettings(store)
  const chain = await startNodeBefore(settings.rpcUrl)
  chain.tamper((method, [call]) => {
    const { to } = (call ?? {}) as { to?: string }
    const isAsked = method === 'eth_call' && to?.toLowerCase() === gasPriceOracle
    return isAsked ? { result: numberToHex(10n ** 18n, { size: 32 }) } : undefined
  })
  const node = await openNode({ ...settings, rpcUrl: chain.url }, store.parts)
  return {
    url: node.url,
    async close() {
      await node.close()
      await chain.stop()
    },
  }
}

/** A body for each kind whose receiver the store has put on its denylist. */
function deniedAt({ url, query }: Store): Shop['denied'] {
  const receivers = {
    voucher: { email: 'ada@example.com' },
    topup: { msisdn: '+12025550199' },
    esim: { iccid: '8901410321111851072' },
  } as const
  const listing = query(
    `insert into denylist_changes (party, identity, is_denied, reason, changed_by)
     select party, party, true, 'An example', 'example' from unnest($1::text[]) as party`,
    [Object.values(receivers).flatMap((receiver) => Object.values(receiver))],
  )
  return async (kind) => {
    await listing
    const body = { ...bodyOf(kind), ...receivers[kind] }
    await eventually(
      () => post(url, purchasePath(kind), body),
      ({ status }) => status === 403,
    )
    return body
  }
}

function buying(
  store: Store,
  buyer: Buyer,
  rpc: StoryProxy,
): Pick<Shop, 'bought' | 'claimed' | 'claimedOften' | 'unproven'> {
  const orders = new Map<string, Promise<Bought>>()
  const claims = new Map<string, Promise<Record<string, string>>>()
  return {
    async unproven() {
      rpc.breakCalls((call) => (call === 'eth_sendRawTransaction' ? 'swallow' : 'none'))
      const body = bodyOf('voucher')
      const signature = await paymentAt(store, await newBuyer(), 'voucher', body)
      const headers = { 'payment-signature': signature, prefer: 'respond-async' }
      return (await post(store.url, purchasePath('voucher'), body, headers)).body.orderId
    },
    bought: (kind, outcome) =>
      once(orders, `${kind} ${outcome}`, async () => {
        rpc.breakCalls(() => 'none')
        // What comes to nothing counts against its wallet, so no wallet has two of it.
        return buy(store, outcome === 'OK' ? buyer : await newBuyer(), kind, outcome)
      }),
    async claimedOften(orderId) {
      const claim = () => post(store.url, `/api/catalog/orders/${orderId}/refund`, {}, newKey())
      await eventually(claim, ({ status }) => status === 429)
    },
    claimed: (orderId) =>
      once(claims, orderId, async () => {
        const headers = newKey()
        await post(store.url, `/api/catalog/orders/${orderId}/refund`, {}, headers)
        return headers
      }),
  }
}

function once<T>(made: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = made.get(key) ?? make()
  made.set(key, known)
  return known
}

const ends: Readonly<Record<Outcome, (order: OrderBody) => boolean>> = {
  OK: ({ orders: [order] }) => order?.state === 'FULFILLED',
  FAIL: ({ refund_state }) => refund_state === 'REFUNDED',
  HANG: ({ orders: [order] }) => order?.state === 'EXPIRED',
}
interface OrderBody {
  readonly refund_state: string | null
  readonly orders: readonly { readonly state: string }[]
}

async function buy(store: Store, buyer: Buyer, kind: Kind, outcome: Outcome): Promise<Bought> {
  const body = bodyOf(kind, outcome)
  const headers = { 'payment-signature': await paymentAt(store, buyer, kind, body), ...newKey() }
  const answer = await post(store.url, purchasePath(kind), body, headers)
  const { orderId, accessToken } = answer.body
  const { paymentId, transactionHash } = await until(store, orderId, ends[outcome])
  return { orderId, accessToken, paymentId, transactionHash, body, headers }
}

async function paymentAt(
  { url }: Pick<Store, 'url'>,
  buyer: Buyer,
  kind: Kind,
  body: object,
  amount?: string,
): Promise<string> {
  const terms = await termsOf(url, kind, body)
  return (await buyer.sign(amount === undefined ? terms : { ...terms, amount })).header
}

/** A payment for a purchase of its own, which a person has declined. */
async function declinedAt(store: Store, buyer: Buyer, kind: Kind, body: object): Promise<string> {
  const payment = await paymentAt(store, buyer, kind, body)
  const refused = await post(store.url, purchasePath(kind), body, { 'payment-signature': payment })
  await fetch(refused.body.approvalUrl, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ token: refused.body.approvalUrl, decision: 'decline' }),
  })
  return payment
}

interface Listed {
  readonly offerId: string
  readonly country?: CountryCode
  readonly available: boolean
  readonly requiredFields: readonly string[]
}

/** A good body for the first offer of a fixed price that is listed and not sold. */
async function unsoldAt({ url }: Store, kind: Kind): Promise<object> {
  for (let offset = 0; ; offset += 100) {
    const { body } = await get(url, `/api/catalog/${kind}s/offers?limit=100&offset=${offset}`)
    const items: readonly Listed[] = body.items
    const unsold = items.find((item) => !item.available && !item.requiredFields.includes('value'))
    if (unsold !== undefined) return bodyFor(unsold)
    if (items.length === 0) throw new Error(`Every ${kind} is sold`)
  }
}

/** What this offer asks for, told by somebody of its country. */
function bodyFor({ offerId, country = 'US', requiredFields }: Listed): object {
  const msisdn = getExampleNumber(country, examples)?.number
  const told = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', country, msisdn }
  const asked = Object.entries(told).filter(([name]) => requiredFields.includes(name))
  return { offerId, ...Object.fromEntries(asked) }
}

/** Neither the chain nor the database can be reached any more, and the store has noticed. */
async function goAway({ url, databaseUrl }: Store, rpc: StoryProxy): Promise<void> {
  rpc.breakCalls(() => 'swallow')
  await eventually(
    () => get(url, '/readyz'),
    ({ status }) => status === 503,
  )
  await letIn(databaseUrl, false)
}

/** Asks more often than any limit allows; where that was done within the minute, once each. */
async function makeBusy({ url }: Store): Promise<void> {
  const headers = { 'x-forwarded-for': busyAddress }
  for (const path of ['/ai/capabilities', '/api/catalog/topups/regions', purchasePath('esim')]) {
    let status = 0
    while (status !== 429) status = (await get(url, path, headers)).status
  }
}

/** Bought what fails, until the budget for that was spent. */
async function spentBuyer(store: Store): Promise<Buyer> {
  const buyer = await newBuyer()
  for (let order = 0; order < 5; order += 1) await buy(store, buyer, 'voucher', 'FAIL')
  return buyer
}
