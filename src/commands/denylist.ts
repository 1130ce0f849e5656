import { readConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { ownEnvironment } from '../environment/secret-files.ts'
import { carryOut, commandOf, UsageError, usage } from './denylist-work.ts'
import { operatorName } from './refunds-work.ts'
import { openDatabaseFor, reasonOf } from './store-database.ts'

/** 0: done. 1: it failed. 2: the command line is wrong. */
async function main(args: readonly string[]): Promise<0> {
  const command = commandOf(args)
  const database = await openDatabaseFor(readConfig(ownEnvironment(console.warn)), 'denylist')
  try {
    console.log((await carryOut({ database, by: operatorName() }, command)).join('\n'))
    return 0
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
  else console.error(`The denylist command failed: ${reasonOf(error)}`)
  return 1
}

process.exitCode = await main(process.argv.slice(2)).catch(failed)
