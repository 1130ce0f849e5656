/** The store's prepaid money at the supplier, in US cents. `available` can be spent now. */
export interface Wallet {
  readonly available: number
  readonly held: number
  readonly spent: number
}

export function openWallet(available: number): Wallet {
  return { available, held: 0, spent: 0 }
}

/** Sets money aside for a purchase, or undefined when there is too little. */
export function hold(wallet: Wallet, amount: number): Wallet | undefined {
  if (amount > wallet.available) return undefined
  return { ...wallet, available: wallet.available - amount, held: wallet.held + amount }
}

/** Takes what was held: the goods were delivered. */
export function capture(wallet: Wallet, amount: number): Wallet {
  return { ...wallet, held: wallet.held - amount, spent: wallet.spent + amount }
}

/** Gives back what was held: the purchase failed. */
export function release(wallet: Wallet, amount: number): Wallet {
  return { ...wallet, available: wallet.available + amount, held: wallet.held - amount }
}

/** Gives back what was taken: an eSIM was refunded. */
export function credit(wallet: Wallet, amount: number): Wallet {
  return { ...wallet, available: wallet.available + amount, spent: wallet.spent - amount }
}
