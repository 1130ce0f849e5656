import { readConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { ownEnvironment } from '../environment/secret-files.ts'
import { commandOf, UsageError, usage } from './refunds-arguments.ts'
import { carryOut, operatorName } from './refunds-work.ts'
import { openDatabaseFor, reasonOf } from './store-database.ts'

/** 0: done. 1: it failed. 2: the command line is wrong. */
async function main(args: readonly string[]): Promise<0 | 1> {
  const command = commandOf(args)
  const config = readConfig(ownEnvironment(console.warn))
  const database = await openDatabaseFor(config, 'refunds')
  try {
    const operator = { database, caps: config.refundCaps, by: operatorName() }
    const { isDone, lines } = await carryOut(operator, command)
    console.log(lines.join('\n'))
    return isDone ? 0 : 1
  } finally {
    await database.end()
  }
}

function failed(error: unknown): 1 | 2 {
  if (error instanceof UsageError) {
    console.error(`${error.message}.\n\n${usage}`)
    return 2
  }
  if (error instanceof ConfigError) console.error(error.message)
  else console.error(`The refunds command failed: ${reasonOf(error)}`)
  return 1
}

process.exitCode = await main(process.argv.slice(2)).catch(failed)
