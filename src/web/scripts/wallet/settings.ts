/** What the page says of the purchase; the page writes it. Nothing is signed that differs from it. */
export type { WalletSettings as Settings } from '../../buying/wallet-panel.ts'

/** What is said in each step and of each fault; what stands in braces is put in. */
export type { WalletTexts } from '../../texts/en/wallet.ts'

/** Puts values into a text: "Open {wallet}." */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
