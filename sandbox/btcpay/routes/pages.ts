import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { promptTotals } from '../accounting.ts'
import { symbols } from '../coins.ts'
import type { Deps } from '../deps.ts'
import { ApiError, invalid, parsed } from '../errors.ts'
import { invoiceOf } from '../invoices.ts'
import { invoicePage } from '../pages/invoice.ts'
import { listPage, missingPage } from '../pages/list.ts'
import { confirm, expire, forget, pay, unitsOf } from '../payments.ts'

const actions = [
  'pay',
  'underpay',
  'overpay',
  'again',
  'late',
  'confirm',
  'expire',
  'forget',
] as const

const formSchema = z.object({
  action: z.enum(actions, 'is none of the buttons'),
  coin: z.enum(symbols, 'is no coin of this sandbox').optional(),
  amount: z.string().trim().default(''),
  hold: z.string().optional(),
})
type Form = z.infer<typeof formSchema>
type Call = { Params: { id: string } }

/** The pages for people. They work without script: every button is a form. */
export function pageRoutes(app: FastifyInstance, deps: Deps): void {
  const type = 'text/html; charset=utf-8'
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  app.get('/', (_request, reply) => reply.type(type).send(listPage(deps.ledger.all('invoice'))))
  app.get<Call>('/i/:id', ({ params }, reply) => {
    const invoice = deps.ledger.find('invoice', params.id)
    reply.type(type)
    return invoice
      ? reply.send(invoicePage(invoice, Date.now()))
      : reply.code(404).send(missingPage())
  })
  app.post<Call>('/i/:id', ({ params, body }, reply) => {
    const invoice = deps.ledger.find('invoice', params.id)
    if (!invoice) return reply.code(404).type(type).send(missingPage())
    try {
      act(deps, invoice.id, parsed(formSchema, body), Date.now())
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      reply.code(error.status).type(type)
      return reply.send(invoicePage(invoice, Date.now(), error.message))
    }
    return reply.redirect(`/i/${invoice.id}`, 303)
  })
}

function act(deps: Deps, id: string, form: Form, now: number): void {
  switch (form.action) {
    case 'confirm':
      confirm(deps, id, now)
      return
    case 'expire':
      expire(deps, id, now)
      return
    case 'forget':
      forget(deps, id, now)
      return
    default:
      pay(deps, id, payerOf(deps, id, form), now)
  }
}

function payerOf(deps: Deps, id: string, { action, coin, amount, hold }: Form) {
  const invoice = invoiceOf(deps, id)
  const prompt = invoice.prompts.find((one) => coin === undefined || one.coin === coin)
  if (!prompt) throw invalid('coin', `This invoice cannot be paid in ${coin}.`)
  const totals = promptTotals(invoice, prompt)
  const due = totals.due > 0n ? totals.due : totals.amount
  const usual = { underpay: totals.amount / 2n, overpay: totals.amount * 2n, again: totals.amount }
  const units =
    action === 'underpay' || action === 'overpay' || action === 'again' ? usual[action] : due
  return {
    coin: prompt.coin,
    units: amount === '' ? units : unitsOf(amount, prompt.coin),
    late: action === 'late',
    confirm: hold === undefined,
  }
}
