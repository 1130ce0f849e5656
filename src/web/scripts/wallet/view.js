import { fieldFaultText, fieldValue, filled } from '../../buying/field-value.ts'
import { lineItemIn, saidPrice, usdcText } from './terms.ts'

const part = (id) => document.getElementById(id)

export function viewOf(way, settings, texts) {
  const form = way.closest('form')
  const parts = { list: part('wallets'), fault: part('wallet-fault'), step: part('wallet-step') }
  const { list, fault, step } = parts
  const button = part('wallet-pay')
  const radio = part('pay-USDC')
  let name = ''

  const say = (text, values) =>
    filled(text, { wallet: name, network: settings.network.name, store: settings.store, ...values })
  /** The label of the button, with the price of what is typed. */
  const label = () => {
    const { fields, seen } = lineItemIn(new FormData(form), settings.offerId)
    const amount = saidPrice(seen, fields.value)
    return amount === undefined ? say(texts.payOpen) : say(texts.pay, { amount: usdcText(amount) })
  }

  /** If the store also accepts coins, some faults are followed by a hint to pay in a coin. */
  const inCoins = (key) =>
    form.querySelector('.submit') && texts[`inCoins.${key}`] ? ` ${texts[`inCoins.${key}`]}` : ''
  /** While a payment is kept, the button sends that payment, whatever is typed or chosen. */
  const isKept = () => button.dataset.kept !== undefined

  way.hidden = false
  listNone(list, `${texts.none}${inCoins('none')}`)
  form.addEventListener('input', () => {
    if (!isKept()) button.textContent = label()
  })

  return {
    isChosen: () => radio.checked,
    press: () => button.click(),
    /** Says that a wallet must be chosen first, and moves the focus to the list. */
    askForWallet() {
      const first = list.querySelector('button')
      if (first) fault.textContent = texts.choose
      ;(first ?? list).focus()
    },
    onPay: (pressed) => button.addEventListener('click', pressed),
    wallets(wallets, chosen, choose) {
      listWallets(list, wallets, chosen, choose)
      name = chosen?.name ?? ''
      for (const one of list.querySelectorAll('button')) one.disabled = button.disabled
      if (chosen && fault.textContent === texts.choose) fault.textContent = ''
      if (isKept()) return
      button.hidden = chosen === undefined
      button.textContent = label()
    },
    show(key, values) {
      radio.checked = true
      fault.textContent = ''
      step.textContent = say(texts[key], values)
    },
    busy(isBusy) {
      if (isBusy) unmarkFaults(form)
      for (const one of [button, ...list.querySelectorAll('button')]) one.disabled = isBusy
    },
    /** Shows what went wrong, and the faults at their fields. What was typed stays. */
    failed({ code, values, errors = [] }, hasKept) {
      step.textContent = ''
      fault.textContent = `${say(texts[`faults.${code}`], values)}${inCoins(code)}`
      button.hidden = !hasKept && name === ''
      button.textContent = hasKept ? texts.kept : texts.again
      button.toggleAttribute('data-kept', hasKept)
      const first = markFaults(errors, texts)
      ;(first ?? button).focus()
    },
  }
}

function listWallets(list, wallets, chosen, choose) {
  const at = [...list.children].indexOf(document.activeElement)
  list.replaceChildren(...wallets.map((one) => buttonOf(one, one === chosen, choose)))
  if (at >= 0) list.children[at]?.focus()
}

/** Shows a text instead while no wallet is found. */
function listNone(list, text) {
  const none = document.createElement('p')
  none.textContent = text
  list.replaceChildren(none)
}

function buttonOf(wallet, isChosen, choose) {
  const one = document.createElement('button')
  one.type = 'button'
  one.setAttribute('aria-pressed', String(isChosen))
  if (wallet.icon) {
    const icon = document.createElement('img')
    Object.assign(icon, { src: wallet.icon, alt: '', width: 32, height: 32 })
    one.append(icon)
  }
  one.append(wallet.name)
  one.addEventListener('click', () => choose(wallet))
  return one
}

/**
 * Shows the faults at their fields, as the page from the store does, and returns the first of these fields. What was
 * typed stays.
 */
function markFaults(faults, texts) {
  const fields = faults.map((fault) => mark(fault, texts))
  return fields.find((field) => field !== undefined)
}

function unmarkFaults(form) {
  for (const field of form.querySelectorAll('.field [aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    part(`${field.id}-fault`).textContent = ''
  }
}

function mark(fault, { fields, didYouMean, readAs }) {
  const field = part(fault.parameter)
  const place = part(`${fault.parameter}-fault`)
  const texts = fields[fault.parameter]
  if (!field || !place || !texts) return undefined
  const meant = (value) => filled(didYouMean, { value })
  const text = texts.said.find(([beginning]) => fault.message.startsWith(beginning))?.[1]
  const { didYouMean: value } = fault
  place.textContent = fieldFaultText(
    { text, didYouMean: value },
    { texts, typed: field.value, meant },
  )
  if (fault.parameter === 'msisdn' && !askToConfirm(fault, field)) {
    // For a number typed as it is dialled in its country, the buyer first sees how it was understood.
    if (fault.didYouMean !== undefined) {
      field.value = fault.didYouMean
      place.textContent = filled(readAs, { value: fault.didYouMean })
    }
  }
  field.setAttribute('aria-invalid', 'true')
  // A field in a closed <details> is invisible and cannot get the focus.
  const folded = field.closest('details')
  if (folded) folded.open = true
  return field
}

/** Shows the checkbox to confirm a number that is in no numbering plan; returns whether the fault is about that. */
function askToConfirm({ message }, field) {
  const tick = part('confirmNumber')
  const place = tick?.closest('[data-said]')
  if (!place || !message.startsWith(place.dataset.said)) return false
  tick.value = fieldValue('msisdn', field.value)
  tick.checked = false
  place.hidden = false
  return true
}
