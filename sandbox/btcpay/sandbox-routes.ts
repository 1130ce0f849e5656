import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formatDecimal, isRate } from './amounts.ts'
import { coins, symbols, type Ticker } from './coins.ts'
import type { Deps } from './deps.ts'
import { parsed } from './errors.ts'
import { faultSchema, webhookFaultSchema } from './faults.ts'
import { invoiceOf } from './invoices.ts'
import { hashOf, type Ledger } from './ledger.ts'
import type { ChainTransaction, Settings } from './models.ts'
import { confirm, expire, forget, payTogether, setNodes, unitsOf } from './payments.ts'
import { payoutOf, resumePayouts, sendByHand } from './payouts.ts'
import { invoiceView, methodsView, payoutView } from './views.ts'

const paySchema = z.strictObject({
  coin: z.enum(symbols).optional(),
  amount: z.string().optional(),
  late: z.boolean().optional(),
  confirm: z.boolean().optional(),
})
const batchSchema = z.strictObject({
  transfers: z.array(paySchema.extend({ invoice: z.string() })).min(1),
})
const walletSchema = z.strictObject({
  coin: z.enum(symbols),
  state: z.enum(['hot', 'watch_only', 'empty']),
})
const rateText = z.string().refine(isRate, 'must be a positive decimal with at most 8 decimals')
const rates = Object.fromEntries(symbols.map((symbol) => [symbol, rateText.optional()]))
const ratesSchema = z.strictObject(rates as Record<Ticker, z.ZodOptional<typeof rateText>>)

const poster =
  (app: FastifyInstance) =>
  <Body extends z.ZodType>(
    path: string,
    schema: Body,
    run: (body: z.infer<Body>, id: string) => unknown,
  ): void => {
    app.post<{ Params: { id: string } }>(`/sandbox${path}`, ({ params, body }) =>
      run(parsed(schema, body ?? {}), params.id),
    )
  }

/** Only in the sandbox: routes that simulate people and chains, and make the server misbehave. */
export function sandboxRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger, faults } = deps
  const post = poster(app)
  const set = (change: Partial<Settings>) => ledger.commit({ ...ledger.settings(), ...change })
  const none = z.object({})
  invoiceRoutes(deps, post)
  const allFaults = () => ({ requests: faults.requests.list(), webhooks: faults.webhooks.list() })
  app.delete('/sandbox/faults', () => {
    faults.requests.clear()
    faults.webhooks.clear()
    return allFaults()
  })
  app.get('/sandbox/faults', allFaults)
  post('/faults', faultSchema, (fault) => {
    faults.requests.add(fault)
    return allFaults()
  })
  post('/webhooks/faults', webhookFaultSchema, (fault) => {
    faults.webhooks.add(fault)
    return allFaults()
  })
  app.get('/sandbox/ledger', () => ledgerView(ledger))
  post('/rates', ratesSchema, (given) => {
    set({ rates: Object.assign({ ...ledger.settings().rates }, given) })
    return ledger.settings().rates
  })
  const approvals = z.strictObject({ mode: z.enum(['work', 'error', 'cancel']) })
  post('/approvals', approvals, (body) => {
    set({ approvals: body.mode })
    return body
  })
  post('/backup', none, () => {
    ledger.backup()
    return {}
  })
  post('/restore', none, () => {
    ledger.restore()
    return {}
  })
  post('/nodes', z.strictObject({ away: z.boolean() }), (body) => {
    setNodes(deps, body.away, Date.now())
    return body
  })
  post('/processor', z.strictObject({ enabled: z.boolean() }), (body) => {
    set({ processor: body.enabled })
    resumePayouts(deps, Date.now())
    return body
  })
  post('/wallets', walletSchema, (body) => {
    const { coin, state } = body
    const { [coin]: _, ...others } = ledger.settings().wallets ?? {}
    set({ wallets: state === 'hot' ? others : { ...others, [coin]: state } })
    return body
  })
  post('/payouts/:id/send', none, (_, id) =>
    payoutView(sendByHand(deps, payoutOf(deps, id), Date.now())),
  )
}

function invoiceRoutes(deps: Deps, post: ReturnType<typeof poster>): void {
  const view = (id: string) => {
    const invoice = invoiceOf(deps, id)
    return { ...invoiceView(deps.place, invoice), paymentMethods: methodsView(invoice) }
  }
  const pay = (transfers: z.infer<typeof batchSchema>['transfers']) => {
    const all = transfers.map(({ amount, ...transfer }) => {
      const coin = transfer.coin ?? invoiceOf(deps, transfer.invoice).prompts[0]?.coin
      if (amount === undefined || coin === undefined) return transfer
      return { ...transfer, coin, units: unitsOf(amount, coin) }
    })
    return payTogether(deps, all, Date.now())
  }
  post('/invoices/:id/pay', paySchema, (body, invoice) => {
    const { transaction, seen } = pay([{ ...body, invoice }])
    return { transaction, seen: seen[0], invoice: view(invoice) }
  })
  post('/pay', batchSchema, ({ transfers }) => pay(transfers))
  for (const [path, act] of Object.entries({ confirm, expire, forget })) {
    post(`/invoices/:id/${path}`, z.object({}), (_, id) => {
      act(deps, id, Date.now())
      return view(id)
    })
  }
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
        ...{ id: hashOf(transfer)[0], amount: write(BigInt(units)), fee: write(BigInt(fee)) },
        ...{ address, at: new Date(at).toISOString(), subject },
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
