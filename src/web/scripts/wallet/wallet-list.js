/** The wallets of this browser, each a button that chooses it. */
export function listWallets(list, wallets, chosen, choose) {
  const at = [...list.children].indexOf(document.activeElement)
  list.replaceChildren(...wallets.map((one) => buttonOf(one, one === chosen, choose)))
  if (at >= 0) list.children[at]?.focus()
}

/** Shown instead if no wallet is found. */
export function listNone(list, text) {
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
