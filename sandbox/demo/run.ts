import type { Demo, Step, Story } from './demo.ts'
import { usdcText } from './money.ts'
import type { Printer } from './print.ts'

/**
 * Runs the steps in order and prints each. After every step it checks on the chain that the wallet's balance changed by
 * exactly what the step reports.
 *
 * @returns whether every step succeeded; the first failure ends the run
 */
export async function run(
  steps: readonly Step[],
  demo: Omit<Demo, 'tell'>,
  printer: Printer,
): Promise<boolean> {
  let story: Story = { start: 0n, purchases: [], coinPayments: [] }
  for (const [index, step] of steps.entries()) {
    printer.begin(step, { number: index + 1, of: steps.length })
    try {
      story = await take(step, { ...demo, tell: printer }, story, printer)
    } catch (error) {
      printer.fail(step.name, reasonOf(error))
      return false
    }
  }
  return true
}

async function take(step: Step, demo: Demo, story: Story, printer: Printer): Promise<Story> {
  const { buyer } = demo
  const before = await buyer.balance()
  const { change, data, purchase, coinPayments = story.coinPayments } = await step.run(demo, story)
  const after = await buyer.balance()
  if (after - before !== change) {
    const [told, seen] = [usdcText(change), usdcText(after - before)]
    throw new Error(`The wallet should have changed by ${told} USDC, but changed by ${seen}.`)
  }
  printer.end(step, { before, after, data })
  return purchase
    ? { ...story, purchases: [...story.purchases, purchase] }
    : { ...story, coinPayments, start: story.purchases.length > 0 ? story.start : after }
}

/** The first line of an error, on which a user can act. Libraries add long reports after it. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n')[0] ?? message
}
