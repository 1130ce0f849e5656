import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formatDecimal, isRate } from './amounts.ts'
import { coins, symbols } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { parsed } from './errors.ts'
import { faultSchema, webhookFaultSchema } from './faults.ts'
import { hashOf } from './ids.ts'
import { invoiceOf } from './invoices.ts'
import type { Ledger } from './ledger.ts'
import type { ChainTransaction } from './models.ts'
import { confirm, expire, forget, pay, payTogether, setNodes, unitsOf } from './payments.ts'
import { payoutOf, resumePayouts, sendByHand } from './payouts.ts'
import { invoiceView, payoutView, promptView } from './views.ts'

type Call = { Params: { id: string } }

const paySchema = z.strictObject({
  coin: z.enum(symbols).optional(),
  amount: z.string().optional(),
  late: z.boolean().optional(),
  confirm: z.boolean().optional(),
})
const batchSchema = z.strictObject({
  transfers: z.array(paySchema.extend({ invoice: z.string() })).min(1),
})

/** Only in the sandbox: routes that simulate people and chains, and make the server misbehave. */
export function sandboxRoutes(app: FastifyInstance, deps: Deps): void {
  invoiceRoutes(app, deps)
  faultRoutes(app, deps)
  app.get('/sandbox/ledger', () => ledgerView(deps.ledger))
  app.post('/sandbox/rates', ({ body }) => {
    const given = parsed(ratesSchema, body)
    const settings = deps.ledger.settings()
    const rates = Object.assign({ ...settings.rates }, given)
    deps.ledger.commit({ ...settings, rates })
    return deps.ledger.settings().rates
  })
  app.post('/sandbox/approvals', ({ body }) => {
    const schema = z.strictObject({ mode: z.enum(['work', 'error', 'cancel']) })
    const { mode } = parsed(schema, body)
    deps.ledger.commit({ ...deps.ledger.settings(), approvals: mode })
    return { mode }
  })
  app.post('/sandbox/backup', () => {
    deps.ledger.backup()
    return {}
  })
  app.post('/sandbox/restore', () => {
    deps.ledger.restore()
    return {}
  })
  app.post('/sandbox/nodes', ({ body }) => {
    const schema = z.strictObject({ away: z.boolean() })
    const { away } = parsed(schema, body)
    setNodes(deps, away, Date.now())
    return { away }
  })
  payoutRoutes(app, deps)
}

/** Routes that keep payouts from being sent, and that simulate what an operator does about it. */
function payoutRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/sandbox/processor', ({ body }) => {
    const schema = z.strictObject({ enabled: z.boolean() })
    const { enabled } = parsed(schema, body)
    deps.ledger.commit({ ...deps.ledger.settings(), processor: enabled })
    resumePayouts(deps, Date.now())
    return { enabled }
  })
  app.post('/sandbox/wallets', ({ body }) => {
    const { coin, state } = parsed(walletSchema, body)
    const { wallets: { [coin]: _, ...others } = {}, ...settings } = deps.ledger.settings()
    const wallets = state === 'hot' ? others : { ...others, [coin]: state }
    deps.ledger.commit({ ...settings, wallets })
    return { coin, state }
  })
  app.post<Call>('/sandbox/payouts/:id/send', ({ params }) =>
    payoutView(sendByHand(deps, payoutOf(deps, params.id), Date.now())),
  )
}

const walletSchema = z.strictObject({
  coin: z.enum(symbols),
  state: z.enum(['hot', 'watch_only', 'empty']),
})

const rateText = z.string().refine(isRate, 'must be a positive decimal with at most 8 decimals')
const ratesSchema = z.strictObject({
  BTC: rateText.optional(),
  LTC: rateText.optional(),
  XMR: rateText.optional(),
  ETH: rateText.optional(),
  USDT: rateText.optional(),
})

function invoiceRoutes(app: FastifyInstance, deps: Deps): void {
  const view = (id: string) => {
    const invoice = invoiceOf(deps, id)
    const paymentMethods = invoice.prompts.map((prompt) => promptView(invoice, prompt))
    return { ...invoiceView(deps.place, invoice), paymentMethods }
  }
  app.post<Call>('/sandbox/invoices/:id/pay', ({ params, body }) => {
    const { transaction, isSeen } = pay(deps, params.id, payerOf(deps, params.id, body), Date.now())
    return { transaction, seen: isSeen, invoice: view(params.id) }
  })
  app.post('/sandbox/pay', ({ body }) => {
    const { transfers } = parsed(batchSchema, body)
    const payers = transfers.map(({ invoice, ...one }) => {
      return { ...payerOf(deps, invoice, one), invoice }
    })
    const paid = payTogether(deps, payers, Date.now())
    return { transaction: paid[0]?.transaction, seen: paid.map(({ isSeen }) => isSeen) }
  })
  app.post<Call>('/sandbox/invoices/:id/confirm', ({ params }) => {
    confirm(deps, params.id, Date.now())
    return view(params.id)
  })
  app.post<Call>('/sandbox/invoices/:id/expire', ({ params }) => {
    expire(deps, params.id, Date.now())
    return view(params.id)
  })
  app.post<Call>('/sandbox/invoices/:id/forget', ({ params }) => {
    forget(deps, params.id, Date.now())
    return view(params.id)
  })
}

function payerOf(deps: Deps, id: string, body: unknown) {
  const { amount, ...rest } = parsed(paySchema, body ?? {})
  const coin = rest.coin ?? invoiceOf(deps, id).prompts[0]?.coin
  if (amount === undefined || coin === undefined) return rest
  return { ...rest, coin, units: unitsOf(amount, coin) }
}

function faultRoutes(app: FastifyInstance, deps: Deps): void {
  const { faults } = deps
  const all = () => ({ requests: faults.requests.list(), webhooks: faults.webhooks.list() })
  app.get('/sandbox/faults', all)
  app.delete('/sandbox/faults', () => {
    faults.requests.clear()
    faults.webhooks.clear()
    return all()
  })
  app.post('/sandbox/faults', ({ body }) => {
    faults.requests.add(parsed(faultSchema, body))
    return all()
  })
  app.post('/sandbox/webhooks/faults', ({ body }) => {
    faults.webhooks.add(parsed(webhookFaultSchema, body))
    return all()
  })
  const eventSchema = z.looseObject({ type: z.string() })
  app.post('/sandbox/webhooks/send', ({ body }) => {
    tell(deps, parsed(eventSchema, body))
    return {}
  })
  app.post('/sandbox/webhooks/forge', async ({ body }) => {
    const event = parsed(eventSchema, body)
    const { storeId } = deps.place
    return { answers: [await deps.webhooks.forge({ ...event, storeId })] }
  })
}

/**
 * The books of each chain, in coins. They must balance: `float` plus everything received, less everything sent and its
 * fees, is the `balance`, which is stored separately.
 */
function ledgerView(ledger: Ledger) {
  const all = ledger.all('transaction')
  return Object.fromEntries(
    symbols.map((symbol) => {
      const { decimals, float } = coins[symbol]
      const write = (units: bigint) => formatDecimal(units, decimals)
      const here = all.filter(({ coin }) => coin === symbol)
      const view = ({ address, at, subject, units, fee, ...transfer }: ChainTransaction) => ({
        id: hashOf(transfer),
        amount: write(BigInt(units)),
        fee: write(BigInt(fee)),
        address,
        at: new Date(at).toISOString(),
        subject,
      })
      const book = {
        float: write(float),
        balance: write(ledger.balance(symbol)),
        incoming: here.filter(({ direction }) => direction === 'in').map(view),
        outgoing: here.filter(({ direction }) => direction === 'out').map(view),
      }
      return [symbol, book]
    }),
  )
}
