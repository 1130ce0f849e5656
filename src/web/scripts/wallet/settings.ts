/** What the page says of the purchase; the page writes it. Nothing is signed that differs from it. */
export type { WalletSettings as Settings, WalletTexts } from '../../buying/wallet-panel.ts'

/** Puts values into a text: "Open {wallet}." */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
