import { formatUsdc } from '../../../lib/money.ts'
import { filled, shownCost } from '../../buying/field-value.ts'
import { lineItemIn } from './terms.ts'

export function viewOf(way, settings, texts) {
  const form = way.closest('form')
  const ids = ['wallets', 'wallet-fault', 'wallet-step', 'wallet-pay', 'pay-USDC']
  const [list, fault, step, button, radio] = ids.map((id) => document.getElementById(id))
  let name = ''

  const say = (text, values) =>
    filled(text, { wallet: name, network: settings.network.name, store: settings.store, ...values })
  /** The label of the button, with the price of what is typed. */
  const label = () => {
    const { fields, seen } = lineItemIn(new FormData(form), settings.offerId)
    const amount = shownCost(seen, fields.value)
    return amount === undefined
      ? say(texts.payOpen)
      : say(texts.pay, { amount: formatUsdc(amount) })
  }

  /** If the store also accepts coins, some faults are followed by a hint to pay in a coin. */
  const inCoins = (key) =>
    form.querySelector('.submit') && texts[`inCoins.${key}`] ? ` ${texts[`inCoins.${key}`]}` : ''
  /** While a payment is kept, the button sends that payment, whatever is typed or chosen. */
  const isKept = () => button.dataset.kept !== undefined

  way.hidden = false
  const textContent = `${texts.none}${inCoins('none')}`
  list.replaceChildren(Object.assign(document.createElement('p'), { textContent }))
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
      for (const one of [button, ...list.querySelectorAll('button')]) one.disabled = isBusy
    },
    failed({ code, values }, hasKept) {
      // The page that answers the form shows the faults at their fields.
      if (code === 'form') return form.submit()
      step.textContent = ''
      fault.textContent = `${say(texts[`faults.${code}`], values)}${inCoins(code)}`
      button.hidden = !hasKept && name === ''
      button.textContent = hasKept ? texts.kept : texts.again
      button.toggleAttribute('data-kept', hasKept)
      button.focus()
    },
  }
}

function listWallets(list, wallets, chosen, choose) {
  const at = [...list.children].indexOf(document.activeElement)
  list.replaceChildren(...wallets.map((one) => buttonOf(one, one === chosen, choose)))
  if (at >= 0) list.children[at]?.focus()
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
