/** The store's prepaid balance at the supplier, in US cents. `available` can be spent now. */
export interface Wallet {
  readonly available: number
  readonly held: number
  readonly spent: number
}

export function openWallet(available: number): Wallet {
  return { available, held: 0, spent: 0 }
}

/** Holds money for a purchase; undefined if there is too little. */
export function hold(wallet: Wallet, amount: number): Wallet | undefined {
  if (amount > wallet.available) return undefined
  return { ...wallet, available: wallet.available - amount, held: wallet.held + amount }
}

/** Captures held money, because the goods were delivered. */
export function capture(wallet: Wallet, amount: number): Wallet {
  return { ...wallet, held: wallet.held - amount, spent: wallet.spent + amount }
}

/** Releases held money, because the purchase failed. */
export function release(wallet: Wallet, amount: number): Wallet {
  return { ...wallet, available: wallet.available + amount, held: wallet.held - amount }
}

/** Credits captured money, because an eSIM was refunded. */
export function credit(wallet: Wallet, amount: number): Wallet {
  return { ...wallet, available: wallet.available + amount, spent: wallet.spent - amount }
}
