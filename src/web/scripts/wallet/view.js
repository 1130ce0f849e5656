import { markFaults, unmarkFaults } from './field-faults.js'
import { saidPrice, usdcText } from './price.ts'
import { filled } from './settings.ts'
import { listNone, listWallets } from './wallet-list.js'
import { wishIn } from './wish.ts'

const part = (id) => document.getElementById(id)

/** What a person sees of paying from a wallet. */
export function viewOf(way, settings, texts) {
  const form = way.closest('form')
  const parts = { list: part('wallets'), fault: part('wallet-fault'), step: part('wallet-step') }
  const { list, fault, step } = parts
  const button = part('wallet-pay')
  const radio = part('pay-USDC')
  let name = ''

  const say = (text, values) =>
    filled(text, { wallet: name, network: settings.network.name, store: settings.store, ...values })
  /** The price in the button follows what is typed. */
  const label = () => {
    const { fields, seen } = wishIn(new FormData(form), settings.offerId)
    const amount = saidPrice(seen, fields.value)
    return amount === undefined ? say(texts.payOpen) : say(texts.pay, { amount: usdcText(amount) })
  }

  /** Where the store takes coins, some things that do not go have a way on. */
  const inCoins = (key) =>
    form.querySelector('.submit') && texts.inCoins[key] ? ` ${texts.inCoins[key]}` : ''

  way.hidden = false
  listNone(list, `${texts.none}${inCoins('none')}`)
  form.addEventListener('input', () => {
    if (button.dataset.kept === undefined) button.textContent = label()
  })

  return {
    isChosen: () => radio.checked,
    press: () => button.click(),
    onPay: (pressed) => button.addEventListener('click', pressed),
    wallets(wallets, chosen, choose) {
      listWallets(list, wallets, chosen, choose)
      name = chosen?.name ?? ''
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
    /** Says what went wrong, where it went wrong. Nothing that was typed is touched. */
    failed({ code, values, errors = [] }, isKept) {
      step.textContent = ''
      fault.textContent = `${say(texts.faults[code], values)}${inCoins(code)}`
      button.hidden = !isKept && name === ''
      button.textContent = isKept ? texts.kept : texts.again
      button.toggleAttribute('data-kept', isKept)
      const first = markFaults(errors, texts)
      ;(first ?? button).focus()
    },
  }
}
