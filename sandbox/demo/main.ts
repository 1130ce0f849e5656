import { setTimeout as sleep } from 'node:timers/promises'
import { readArguments, usage, type Wanted } from './arguments.ts'
import { connect } from './connect.ts'
import { humanPrinter, jsonPrinter, type Printer, wantsColours } from './print.ts'
import { reasonOf, run } from './run.ts'
import { coinPayments } from './steps/coins.ts'
import { esim, fixedVoucher, openVoucher, slowVoucher, topup } from './steps/goods.ts'
import { meet } from './steps/meet.ts'
import { rejectedTopup } from './steps/refund.ts'
import { search } from './steps/search.ts'
import { summary } from './steps/summary.ts'

const steps = [
  meet,
  search,
  fixedVoucher,
  openVoucher,
  topup,
  esim,
  slowVoucher,
  rejectedTopup,
  coinPayments,
  summary,
]

const write = (text: string) => {
  process.stdout.write(text)
}

function printerFor(json: boolean): Printer {
  return json ? jsonPrinter(write) : humanPrinter(write, wantsColours(process.stdout, process.env))
}

async function main(args: readonly string[]): Promise<boolean> {
  let wanted: Wanted
  try {
    wanted = readArguments(args, process.env)
  } catch (error) {
    printerFor(args.includes('--json')).fail(
      'arguments',
      `${reasonOf(error)} (npm run demo -- --help)`,
    )
    return false
  }
  if (wanted.type === 'help') {
    console.log(usage)
    return true
  }
  const printer = printerFor(wanted.json)
  try {
    const wait = (seconds: number) => sleep(seconds * 1_000)
    return await run(steps, { ...(await connect(wanted.storeUrl)), wait }, printer)
  } catch (error) {
    printer.fail(meet.name, reasonOf(error))
    return false
  }
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
