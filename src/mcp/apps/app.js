// The script of the documents of apps.ts inside the host of a model (MCP Apps, 2026-01-26). It shows the answer of
// a tool, and asks the host for everything else. Data is shown as text, never as markup.
const protocolVersion = '2026-01-26'
const view = document.querySelector('main')

const waiting = new Map()
let last = 0

// A store cannot know the origin of a host. The messages are only requests, which the host may refuse.
const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')

function ask(method, params) {
  last += 1
  const id = last
  send({ id, method, params })
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject })
  })
}

function answered({ id, result, error }) {
  const { resolve, reject } = waiting.get(id) ?? {}
  waiting.delete(id)
  if (error === undefined) resolve?.(result)
  else reject?.(new Error(error.message))
}

function heard(message) {
  const { id, method, params } = message
  if (method === undefined) answered(message)
  else if (method === 'ui/notifications/tool-result') show(params)
  else if (method === 'ui/notifications/host-context-changed') dress(params)
  // Any other request of the host, such as to end the view, only needs an answer.
  else if (id !== undefined) send({ id, result: {} })
}

function dress({ theme } = {}) {
  if (theme !== undefined) document.documentElement.dataset.theme = theme
}

function element(name, text, ...children) {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  made.append(...children.filter((child) => child !== undefined))
  return made
}

function button(text, act) {
  const made = element('button', text)
  made.type = 'button'
  made.addEventListener('click', async () => {
    made.disabled = true
    try {
      await act()
    } catch (error) {
      view.append(element('p', `The host did not do that: ${error.message}`))
    } finally {
      made.disabled = false
    }
  })
  return made
}

const usdc = (atomic) => `${(Number(atomic) / 1_000_000).toFixed(2)} USDC`

const priceOf = ({ usdc: paid }) => paid && between(paid.amount, paid.min, paid.max, usdc)

const between = (one, min, max, shown) =>
  one === undefined || one === null ? `${shown(min)} to ${shown(max)}` : shown(one)

const call = async (name, args) => show(await ask('tools/call', { name, arguments: args }))
const open = (url) => ask('ui/open-link', { url })
const say = (text) => ask('ui/message', { role: 'user', content: [{ type: 'text', text }] })

function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '')
  const rows = given.map(([name, value]) =>
    element('div', undefined, element('dt', name), element('dd', String(value))),
  )
  return element('dl', undefined, ...rows)
}

const titleOf = ({ brandName, brand, offerId }) => brandName ?? brand ?? offerId
const pick = (offerId) => say(`I choose the offer ${offerId}.`)

function card(offer) {
  const { offerId, kind, country, notes, shortNotes } = offer
  return element(
    'article',
    undefined,
    element('h2', titleOf(offer)),
    facts([
      ['Price', priceOf(offer)],
      ['Kind', kind],
      ['Country', country],
      ['About', shortNotes ?? notes],
    ]),
    button('Choose', () => pick(offerId)),
  )
}

function offers({ items, offerId, ...rest }) {
  if (offerId !== undefined) return [card({ offerId, ...rest })]
  if (items.length === 0) return [element('h2', 'Nothing found'), element('p', rest.hint?.message)]
  return items.map((item) => {
    const made = card(item)
    made.append(button('Details', () => call('get_offer', { offerId: item.offerId })))
    return made
  })
}

/** A demand without terms has nothing to pay: it asks for the signature of a wallet. */
function signIn() {
  const text = 'The wallet that paid must sign in to show its orders. Nothing is charged.'
  return [element('h2', 'Sign in'), element('p', text)]
}

/** A quote has what it costs, a demand the terms. */
function price({ display, message, warning, accepts = [], refundRule, validUntil }) {
  const [terms] = accepts
  if (terms === undefined && display === undefined) return signIn()
  return [
    element('h2', display ?? usdc(terms.amount)),
    element('p', message),
    facts([
      ['Please check', warning],
      ['Network', terms?.network],
      ['Price holds until', validUntil && new Date(validUntil).toLocaleTimeString()],
      ['Refund', refundRule],
    ]),
  ]
}

function problem({ title, detail, charged, approvalUrl }) {
  return [
    element('h2', title ?? 'Not done'),
    element('p', detail),
    facts([['Charged', charged]]),
    ...(approvalUrl ? [button('Approve or decline', () => open(approvalUrl))] : []),
  ]
}

// Titles and texts for the person who looks. The texts for models say what to do next.
const states = {
  PAYMENT_PENDING: ['Payment under way', 'It is not known yet whether the money moved.'],
  PAYMENT_FAILED: ['Payment failed', 'No money moved.'],
  PAID: ['Paid', 'The purchase is being delivered.'],
  FULFILLING: ['Paid', 'The purchase is being delivered.'],
  FULFILLED: ['Delivered', 'It is shown once, on a page of the store.'],
  FULFILLMENT_FAILED: ['Not delivered', 'The full amount is refunded to the wallet that paid.'],
  EXPIRED: ['Not delivered', 'The full amount is refunded to the wallet that paid.'],
}
const refunds = {
  REFUND_PENDING: 'On its way',
  REFUNDED: 'Paid back',
  REFUND_FAILED: 'Failed; the store’s operator must act',
}

const goods = { code: 'Code', pin: 'PIN', redemptionUrl: 'Redeem at', lpa: 'eSIM', iccid: 'ICCID' }

function oneOrder({ orderId, offerId, state, error, result }) {
  const [title, text] = states[state] ?? [state]
  const shown = Object.entries(goods).map(([field, name]) => [name, result?.[field]])
  return element(
    'article',
    undefined,
    element('h2', title),
    text && element('p', text),
    facts([['Order', orderId], ['Offer', offerId], ['Error', error?.message ?? error], ...shown]),
  )
}

/** Without `orders`, the state alone, as anyone sees it who knows its payment. */
function order({ state, orders = [{ state }], refund_state: refund, reveal, orderId }) {
  const id = orderId ?? orders[0]?.orderId
  return [
    ...orders.map(oneOrder),
    facts([['Refund', refunds[refund] ?? refund]]),
    ...(reveal ? [button('Show what was bought', () => open(reveal.url))] : []),
    ...(id ? [button('Refresh', () => call('order_status', { orderId: id }))] : []),
  ]
}

function ownOrder({ orderId, brandName, offerId, state, refund_state: refund, ...rest }) {
  const [title = state] = states[state] ?? []
  return element(
    'article',
    undefined,
    element('h2', brandName ?? offerId),
    facts([
      ['State', title],
      ['Refund', refunds[refund] ?? refund],
      ['Paid', usdc(rest.amount_atomic)],
      ['Ordered', new Date(rest.placed_at).toLocaleString()],
      ['Order', orderId],
    ]),
    button('Details', () => call('order_status', { orderId })),
  )
}

/** USDC is named by the address of its contract, another coin by its code. */
function amountOf({ amount_atomic: atomic, asset, asset_decimals: decimals }) {
  return asset.startsWith('0x') ? usdc(atomic) : `${Number(atomic) / 10 ** decimals} ${asset}`
}

function refund({ orderId, state, refund_to: to, transactionHash, reason, error, ...amount }) {
  return [
    element('h2', 'Refund'),
    facts([
      ['State', refunds[state] ?? state],
      ['Amount', amountOf(amount)],
      ['To', to],
      ['Transaction', transactionHash],
      ['Reason', reason],
      ['Error', error?.message],
      ['Order', orderId],
    ]),
    button('Refresh', () => call('refund', { orderId })),
  ]
}

/** The view of each kind of answer, by a field that no kind before it has. */
const views = [
  [({ code, detail }) => code !== undefined && detail !== undefined, problem],
  [({ accepts, display }) => (accepts ?? display) !== undefined, price],
  [({ orders }) => Array.isArray(orders), order],
  [({ refundId }) => refundId !== undefined, refund],
  [({ items }) => items?.[0]?.orderId !== undefined, ({ items }) => items.map(ownOrder)],
  [({ items, priceType }) => Array.isArray(items) || priceType !== undefined, offers],
  [({ state }) => state !== undefined, order],
]

/** Shows each answer by its content: the same document may show offers, then a price, then an order. */
function partsOf(data) {
  const [, parts] = views.find(([is]) => is(data)) ?? []
  return parts?.(data)
}

function show({ structuredContent, content = [] }) {
  const said = content.find(({ type }) => type === 'text')?.text ?? ''
  const parts = structuredContent && partsOf(structuredContent)
  view.replaceChildren(...(parts ?? [element('p', said)]))
}

addEventListener('message', ({ source, data }) => {
  if (source === parent && data?.jsonrpc === '2.0') heard(data)
})

new ResizeObserver(() => {
  const { width, height } = document.documentElement.getBoundingClientRect()
  const params = { width: Math.ceil(width), height: Math.ceil(height) }
  send({ method: 'ui/notifications/size-changed', params })
}).observe(document.documentElement)

const appInfo = { name: document.title, version: '1' }
const { hostContext } = await ask('ui/initialize', {
  appInfo,
  appCapabilities: {},
  protocolVersion,
})
dress(hostContext)
send({ method: 'ui/notifications/initialized', params: {} })
