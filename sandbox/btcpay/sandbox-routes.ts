import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formatDecimal } from './amounts.ts'
import { coins, symbols } from './coins.ts'
import type { Deps } from './deps.ts'
import { parsed } from './errors.ts'
import { invoiceOf } from './invoices.ts'
import { hashOf, type Ledger } from './ledger.ts'
import type { ChainTransaction, Settings } from './models.ts'
import { confirm, expire, payTogether, replace, setNodes, unitsOf } from './payments.ts'
import { payoutOf, resumePayouts, sendByHand } from './payouts.ts'
import { invoiceView, methodsView, payoutView } from './views.ts'

const paySchema = z.strictObject({
  coin: z.enum(symbols).optional(),
  amount: z.string().optional(),
  address: z.string().optional(),
  late: z.boolean().optional(),
  confirm: z.boolean().optional(),
})
const batchSchema = z.strictObject({
  transfers: z.array(paySchema.extend({ invoice: z.string() })).min(1),
})
const walletSchema = z.strictObject({
  coin: z.enum(symbols),
  state: z.enum(['hot', 'watch_only']),
})
const faultSchema = z.strictObject({
  mode: z.literal('lose'),
  times: z.int().min(1).default(1),
  only: z.string().default(''),
})

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
  const { ledger } = deps
  const post = poster(app)
  const set = (change: Partial<Settings>) => ledger.commit({ ...ledger.settings(), ...change })
  const none = z.object({})
  invoiceRoutes(deps, post)
  post('/faults', faultSchema, (fault) => {
    deps.losing.push(fault)
    return deps.losing
  })
  app.get('/sandbox/ledger', () => ledgerView(ledger))
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
  post('/broadcasts', z.strictObject({ refused: z.boolean() }), (body) => {
    set({ refused: body.refused })
    return body
  })
  post('/wallets', walletSchema, (body) => {
    const others = (ledger.settings().watchOnly ?? []).filter((coin) => coin !== body.coin)
    set({ watchOnly: body.state === 'hot' ? others : [...others, body.coin] })
    return body
  })
  post('/payouts/:id/send', none, (_, id) =>
    payoutView(sendByHand(deps, payoutOf(deps, id), Date.now())),
  )
}

function invoiceRoutes(deps: Deps, post: ReturnType<typeof poster>): void {
  const view = (id: string) => {
    const invoice = invoiceOf(deps, id)
    const asked = { ahead: deps.settings.hostAheadMinutes, onlyAccounted: true }
    return { ...invoiceView(deps.place, invoice), paymentMethods: methodsView(invoice, asked) }
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
  for (const [path, act] of Object.entries({ confirm, expire, replace })) {
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
