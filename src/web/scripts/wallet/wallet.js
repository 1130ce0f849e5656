import { receivesText } from '../../buying/field-value.ts'
import { createSavedPayments, pay, resume } from './paying.ts'
import { discover, walletOf } from './provider.ts'
import { lineItemIn } from './terms.ts'
import { viewOf } from './view.js'

const way = document.getElementById('wallet')
if (way) start(way)

const face = document.getElementById('face-value')
if (face) followFace(face, document.getElementById('value'))

/** Shows what the card or the line receives, in its own currency, while an amount is typed. */
function followFace(place, field) {
  const { worth, words } = JSON.parse(place.dataset.face)
  const say = () => {
    place.textContent = receivesText(worth, field.value, words)
  }
  field.addEventListener('input', say)
  say()
}

function start(element) {
  const settings = JSON.parse(element.dataset.settings)
  const view = viewOf(element, settings, JSON.parse(element.dataset.texts))
  const form = element.closest('form')
  const saved = createSavedPayments(() => localStorage, settings.offerId)
  const deps = depsOf({ settings, saved, show: view.show })
  const run = runner(form, view, saved)
  let wallets = []
  let chosen
  /** Whether a person has chosen the wallet, rather than the page because it was the only one. */
  let isByPerson = false

  const choose = (wallet) => {
    chosen = wallet
    view.wallets(wallets, chosen, (pressed) => {
      isByPerson = true
      choose(pressed)
    })
  }
  view.onPay(() => {
    if (saved.find() !== undefined) return run(() => resume(deps))
    if (!chosen) return view.askForWallet()
    isByPerson = true
    const lineItem = lineItemIn(new FormData(form), settings.offerId)
    return run((most) => pay(deps, walletOf(chosen.provider, settings), { ...lineItem, most }))
  })
  discover(window, (found) => {
    wallets = found
    // Which of several wallets announces itself first is chance, so the page chooses none of them.
    const only = found.length === 1 ? found[0] : undefined
    choose(isByPerson ? chosen : only)
  })
  // Enter in a field pays in the chosen way.
  form.addEventListener('submit', (event) => {
    if (!view.isChosen()) return
    event.preventDefault()
    view.press()
  })
  if (saved.find() !== undefined) void run(() => resume(deps))
}

function depsOf(own) {
  return {
    ...own,
    fetch: (url, init) => fetch(url, init),
    random: (bytes) => crypto.getRandomValues(bytes),
    monotonicMs: () => performance.now(),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  }
}

function runner(form, view, saved) {
  let isBusy = false
  /** A higher price that was shown after the page was made; atomic USDC. */
  let told
  // The buyer accepted it only for the content that the form had then.
  form.addEventListener('input', () => {
    told = undefined
  })
  /** Asks before the page is left, but only while a signed payment is under way. */
  const holdBack = (event) => {
    if (saved.find() !== undefined) event.preventDefault()
  }
  // A buyer who goes back from their order finds the page as they left it, busy. A reload gives them a new form; the
  // old one would repeat the same purchase.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted || !isBusy) return
    removeEventListener('beforeunload', holdBack)
    location.reload()
  })
  return async (work) => {
    if (isBusy) return
    isBusy = true
    view.busy(true)
    addEventListener('beforeunload', holdBack)
    const ended = await work(told)
    removeEventListener('beforeunload', holdBack)
    if (ended.type === 'paid') return leave(view, ended)
    told = ended.amount
    if (ended.code === 'toppedUp') insist(form)
    isBusy = false
    view.busy(false)
    view.failed(ended, saved.find() !== undefined)
  }
}

/** Whoever presses the button again tops up this very number again. */
function insist(form) {
  const own = { type: 'hidden', name: 'confirmAnother' }
  const field =
    form.elements.confirmAnother ??
    form.appendChild(Object.assign(document.createElement('input'), own))
  field.value = lineItemIn(new FormData(form)).fields.msisdn
}

async function leave(view, { orderId, accessToken, key }) {
  view.show('paid')
  const path = `/orders/${orderId}`
  const body = new URLSearchParams(accessToken === undefined ? { key } : { token: accessToken })
  // If this fails, the link itself still opens the order, or a sign-in of the wallet that paid.
  await fetch(`${path}/open`, { method: 'POST', body, redirect: 'manual' }).catch(() => undefined)
  location.assign(accessToken === undefined ? path : `${path}#${accessToken}`)
}
